// The smallest program that records each download durably before it sends the file. Downloads below /alert/ also insert an alert.
import { fdatasync, openSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const [folder = '.'] = process.argv.slice(2);
const path = join(folder, 'downloads.db');
const database = new DatabaseSync(path);
database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
  CREATE TABLE audit (id INTEGER PRIMARY KEY, tid INTEGER, at INTEGER, share_id INTEGER, actor TEXT, address TEXT, path TEXT, outcome TEXT);
  CREATE INDEX audit_at ON audit(tid, at, id);
  CREATE INDEX audit_share ON audit(tid, share_id, at);
  CREATE INDEX audit_age ON audit(at);
  CREATE TABLE alert (id INTEGER PRIMARY KEY, tid INTEGER, share_id INTEGER, audit_id INTEGER, action TEXT, visitor TEXT, at INTEGER, collected INTEGER);
  CREATE INDEX alert_new ON alert(id) WHERE collected = 0;
  CREATE INDEX alert_visitor ON alert(tid, share_id, visitor) WHERE collected = 1;`);
const walFile = openSync(`${path}-wal`, 'r+');
const insertEntry = database.prepare(
  "INSERT INTO audit (tid, at, share_id, actor, address, path, outcome) VALUES (1, ?, 1, '', ?, ?, 'done')",
);
const insertAlert = database.prepare(
  "INSERT INTO alert (tid, share_id, audit_id, action, visitor, at, collected) VALUES (1, 1, ?, 'download', ?, ?, 0)",
);
const collect = database.prepare('UPDATE alert SET collected = 1 WHERE collected = 0');
setInterval(() => collect.run(), 1000).unref();

const file = Buffer.alloc(1024);
let waiting: { readonly request: IncomingMessage; readonly response: ServerResponse }[] = [];
let isCommitting = false;

function record({ url = '', headers }: IncomingMessage): void {
  const [now, address] = [Date.now(), `${headers['x-forwarded-for']}`];
  const { lastInsertRowid } = insertEntry.run(now, address, url);
  if (url.startsWith('/alert/')) insertAlert.run(lastInsertRowid, address, now);
}

/** Commits the downloads that wait, and sends their files when the commit is on disk. */
function commit(): void {
  isCommitting = waiting.length > 0;
  if (!isCommitting) return;
  const downloads = waiting;
  waiting = [];
  database.exec('BEGIN IMMEDIATE');
  for (const { request } of downloads) record(request);
  database.exec('COMMIT');
  fdatasync(walFile, () => {
    for (const { response } of downloads) response.end(file);
    commit();
  });
}

const server = createServer((request, response) => {
  waiting.push({ request, response });
  if (isCommitting) return;
  isCommitting = true;
  setImmediate(commit);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`ready ${typeof address === 'object' ? address?.port : ''}`);
});
