// A small program that keeps two promises of Postern. For an upload: it records the upload as pending, stores it in a thread, and
// records it as done. For a share: it inserts the share and its audit entry together. A response is sent when all of this is on disk.
import { createHash } from 'node:crypto';
import { closeSync, fdatasync, fsyncSync, linkSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer, text } from 'node:stream/consumers';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** An upload that the thread stores. */
interface StoredFile {
  readonly name: string;
  readonly token: string;
  readonly content: Uint8Array;
}

function storeFiles(folder: string): void {
  parentPort?.on('message', ({ name, token, content }: StoredFile) => {
    const stagingPath = join(folder, `.staging-${token}`);
    const file = openSync(stagingPath, 'wx');
    writeSync(file, content);
    fsyncSync(file);
    closeSync(file);
    linkSync(stagingPath, join(folder, name));
    unlinkSync(stagingPath);
    const directory = openSync(folder, 'r');
    fsyncSync(directory);
    closeSync(directory);
    parentPort?.postMessage('done');
  });
}

function serve(folder: string): void {
  const path = join(folder, 'changes.db');
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE share (id INTEGER PRIMARY KEY, tid INTEGER, title TEXT, link TEXT UNIQUE, body TEXT, at INTEGER);
    CREATE INDEX share_title ON share(tid, title, id);
    CREATE TABLE audit (id INTEGER PRIMARY KEY, tid INTEGER, at INTEGER, share_id INTEGER, path TEXT, outcome TEXT, bytes INTEGER, after TEXT);
    CREATE INDEX audit_at ON audit(tid, at, id);
    CREATE INDEX audit_share ON audit(tid, share_id, at);
    CREATE TABLE pending (audit_id INTEGER PRIMARY KEY, name TEXT, token TEXT);`);
  const insertShare = database.prepare('INSERT INTO share (tid, title, link, body, at) VALUES (1, ?, ?, ?, ?)');
  const insertEntry = database.prepare('INSERT INTO audit (tid, at, share_id, path, outcome, after) VALUES (1, ?, ?, ?, ?, ?)');
  const insertPending = database.prepare('INSERT INTO pending (audit_id, name, token) VALUES (?, ?, ?)');
  const recordDone = database.prepare("UPDATE audit SET outcome = 'done', bytes = ?, after = ? WHERE id = ?");
  const deletePending = database.prepare('DELETE FROM pending WHERE audit_id = ?');
  const log = openSync(`${path}-wal`, 'r+');

  /** Runs a transaction. @returns its result when the commit is on disk */
  async function commit<T>(change: () => T): Promise<T> {
    database.exec('BEGIN IMMEDIATE');
    const result = change();
    database.exec('COMMIT');
    await new Promise<void>((resolve) => fdatasync(log, () => resolve()));
    return result;
  }

  const thread = new Worker(new URL(import.meta.url), { workerData: folder });
  const waiting: (() => void)[] = [];
  thread.on('message', () => waiting.shift()?.());
  const storeFile = (file: StoredFile) =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      thread.postMessage(file);
    });

  async function store(request: IncomingMessage, name: string): Promise<object> {
    const token = `${process.hrtime.bigint()}`;
    const auditId = await commit(() => {
      const { lastInsertRowid } = insertEntry.run(Date.now(), 1, name, 'begun', null);
      insertPending.run(lastInsertRowid, name, token);
      return lastInsertRowid;
    });
    const content = await buffer(request);
    const sha256 = createHash('sha256').update(content).digest('hex');
    await storeFile({ name, token, content });
    const stored = { name, size: content.length, sha256 };
    await commit(() => {
      recordDone.run(content.length, JSON.stringify(stored), auditId);
      deletePending.run(auditId);
    });
    return stored;
  }

  async function addShare(request: IncomingMessage): Promise<object> {
    const body = await text(request);
    const { title } = JSON.parse(body);
    return commit(() => {
      const link = `${process.hrtime.bigint()}`;
      const { lastInsertRowid } = insertShare.run(`${title}`, link, body, Date.now());
      insertEntry.run(Date.now(), lastInsertRowid, null, 'done', body);
      return { id: Number(lastInsertRowid), link };
    });
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const stored = request.method === 'PUT' ? await store(request, request.url?.slice(1) ?? '') : await addShare(request);
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(stored));
  }

  const server = createServer((request, response) => void respond(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    console.log(`ready ${typeof address === 'object' ? address?.port : ''}`);
  });
}

if (isMainThread) serve(process.argv[2] ?? '.');
else storeFiles(workerData);
