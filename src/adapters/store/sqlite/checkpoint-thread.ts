import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const database = new DatabaseSync(String(workerData), { timeout: 100 });
database.exec('PRAGMA wal_autocheckpoint=0');

/** What SQLite says of a checkpoint: busy 1 means that it could not finish; `log` pages are in the file. */
export interface Checkpointed {
  readonly busy: number;
  readonly log: number;
}

parentPort?.on('message', (mode: 'NOOP' | 'PASSIVE' | 'RESTART') => {
  parentPort?.postMessage(database.prepare(`PRAGMA wal_checkpoint(${mode})`).get());
});
