// The reference server, without a framework. Each route does the least work for its response.
import { closeSync, createReadStream, createWriteStream, fsyncSync, openSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { startMinimalSignIn } from './minimal-sign-in.ts';

const folder = process.argv[2] ?? '.';
const database = new DatabaseSync(join(folder, 'bare.db'));
database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS row (id INTEGER PRIMARY KEY, text TEXT)');
const insert = database.prepare('INSERT INTO row (text) VALUES (?)');
const delays = monitorEventLoopDelay({ resolution: 10 });
delays.enable();
let fixed: Buffer = Buffer.from('{}');

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function storeBody(request: IncomingMessage): Promise<void> {
  const file = join(folder, `stored-${process.hrtime.bigint()}`);
  await pipeline(request, createWriteStream(file));
  const descriptor = openSync(file, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Returns the 99th percentile of the event loop's delay since the last call, in ms. It includes the sampling interval of 10 ms. */
function delayUntilNow(): string {
  const p99 = delays.percentile(99) / 1e6;
  delays.reset();
  return `${p99}`;
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = request.url ?? '';
  if (url === '/redirect') return void response.writeHead(303, { location: 'https://login.example.com/authorize' }).end();
  if (url.startsWith('/sign-in/')) {
    const { status, headers } = startMinimalSignIn(request);
    return void response.writeHead(status, headers).end();
  }
  if (url === '/hang') return void (await bodyOf(request));
  if (url === '/refuse') return void response.writeHead(413, { connection: 'close' }).end();
  if (url === '/delay') return void response.end(delayUntilNow());
  if (url === '/set') fixed = await bodyOf(request);
  if (url === '/commit') insert.run((await bodyOf(request)).toString('utf8'));
  if (url === '/store') await storeBody(request);
  if (url.startsWith('/stream/')) return pipeline(createReadStream(join(folder, url.slice(8))), response);
  if (url === '/fixed' && request.method === 'POST') await bodyOf(request);
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', fixed.length);
  response.end(fixed);
}

const server = createServer((request, response) => void respond(request, response).catch(() => response.destroy()));
server.listen(0, '127.0.0.1', () => {
  const address: AddressInfo | string | null = server.address();
  console.log(`ready ${typeof address === 'object' ? address?.port : ''}`);
});
