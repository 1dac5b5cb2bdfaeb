import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { isOutOfSpace } from './out-of-space.ts';

const file = String(workerData);
const database = new DatabaseSync(file, { timeout: 100 });
database.exec('PRAGMA wal_autocheckpoint=0');

/**
 * SQLite's result of a checkpoint: `busy` is 1 if another connection blocked the checkpoint. Readers do not block PASSIVE. `log` is the
 * number of pages in the log, and `checkpointed` is how many of them were copied.
 */
interface CheckpointResult {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}
/** Mode of a checkpoint (SQLite's documentation of wal_checkpoint). NOOP copies nothing: it only returns the result. */
export type CheckpointMode = 'NOOP' | 'PASSIVE' | 'RESTART' | 'TRUNCATE';
/** `diskFull`: the database file has no space for the pages, so they stay in the log. */
export type CheckpointResponse = CheckpointResult | 'diskFull';

function checkpoint(mode: CheckpointMode): unknown {
  try {
    return database.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
  } catch (cause) {
    if (isOutOfSpace(cause, file)) return 'diskFull' satisfies CheckpointResponse;
    throw cause;
  }
}

parentPort?.on('message', (mode: CheckpointMode) => parentPort?.postMessage(checkpoint(mode)));
