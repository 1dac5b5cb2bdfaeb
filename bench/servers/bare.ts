// The reference server: only node:http. It returns fixed bytes, redirects, streams a file, stores a body, or commits a row.
import { closeSync, createReadStream, createWriteStream, fsyncSync, openSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { startLeastSignIn } from './least-sign-in.ts';

const folder = process.argv[2] ?? '.';
const database = new DatabaseSync(join(folder, 'bare.db'));
database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS row (id INTEGER PRIMARY KEY, text TEXT)');
const insert = database.prepare('INSERT INTO row (text) VALUES (?)');
let fixed: Buffer = Buffer.from('{}');

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function keep(request: IncomingMessage): Promise<void> {
  const file = join(folder, `kept-${process.hrtime.bigint()}`);
  await pipeline(request, createWriteStream(file));
  const descriptor = openSync(file, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = request.url ?? '';
  if (url === '/redirect') return void response.writeHead(303, { location: 'https://login.example.com/authorize' }).end();
  if (url === '/sign-in') return startLeastSignIn(response);
  if (url === '/set') fixed = await bodyOf(request);
  if (url === '/commit') insert.run((await bodyOf(request)).toString('utf8'));
  if (url === '/keep') await keep(request);
  if (url.startsWith('/stream/')) return pipeline(createReadStream(join(folder, url.slice(8))), response);
  if (url === '/fixed' && request.method === 'POST') await bodyOf(request);
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', fixed.length);
  response.end(fixed);
}

const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
server.listen(0, '127.0.0.1', () => {
  const address: AddressInfo | string | null = server.address();
  console.log(`ready ${typeof address === 'object' ? address?.port : ''}`);
});
