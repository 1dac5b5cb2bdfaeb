// The smallest program that stores sign-in codes durably, a few in each commit as Postern does. While too many requests
// wait, it refuses further ones without reading them. It answers all other requests with {}.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { json } from 'node:stream/consumers';
import { codeWindow, maxCodes } from '#core/sign-in-codes.ts';

const [folder = '.'] = process.argv.slice(2);
const [codesPerTurn, pause, maxWaiting] = [8, 120, 1000]; // pause in ms
const database = new DatabaseSync(join(folder, 'minimal-codes.db'));
database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE code (id INTEGER PRIMARY KEY, mailbox TEXT, code TEXT, at INTEGER);
  CREATE INDEX code_mailbox ON code(mailbox, at);
  CREATE TABLE delivery (id INTEGER PRIMARY KEY, code_id INTEGER, recipient TEXT);`);
const recent = database.prepare('SELECT id FROM code WHERE mailbox = ? AND at > ? LIMIT ?');
const insertCode = database.prepare('INSERT INTO code (mailbox, code, at) VALUES (?, ?, ?)');
const insertDelivery = database.prepare('INSERT INTO delivery (code_id, recipient) VALUES (?, ?)');
const deleteUnwanted = database.prepare("DELETE FROM delivery WHERE recipient NOT LIKE '%@example.com'");

const waiting: { readonly email: string; readonly response: ServerResponse }[] = [];

function storeCodes(): void {
  const requests = waiting.splice(0, codesPerTurn);
  if (requests.length === 0) return;
  const now = Date.now();
  database.exec('BEGIN IMMEDIATE');
  for (const { email } of requests) {
    if (recent.all(email, now - codeWindow, maxCodes).length === maxCodes) continue;
    const { lastInsertRowid } = insertCode.run(email, `${Math.random()}`, now);
    insertDelivery.run(lastInsertRowid, email);
  }
  database.exec('COMMIT');
  for (const { response } of requests) response.writeHead(202).end();
}
setInterval(storeCodes, pause);
setInterval(() => deleteUnwanted.run(), 1000);

async function enqueue(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (waiting.length >= maxWaiting) return void response.writeHead(503).end();
  const body = await json(request);
  const email = body && typeof body === 'object' && 'email' in body ? String(body.email) : '';
  waiting.push({ email, response });
}

const server = createServer((request, response) => {
  if (request.url === '/code') return void enqueue(request, response).catch(() => response.destroy());
  response.setHeader('content-type', 'application/json');
  response.end('{}');
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`ready ${typeof address === 'object' ? address?.port : ''}`);
});
