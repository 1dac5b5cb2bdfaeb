import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { isOutOfRoom } from './quota.ts';

const file = String(workerData);
const database = new DatabaseSync(file, { timeout: 100 });
database.exec('PRAGMA wal_autocheckpoint=0');

/** What SQLite says of a checkpoint: busy 1 means that it could not finish; `log` pages are in the file. */
interface Checkpointed {
  readonly busy: number;
  readonly log: number;
}
/** How much is copied (SQLite's documentation of wal_checkpoint): NOOP only tells how long the log is. */
export type CheckpointMode = 'NOOP' | 'PASSIVE' | 'RESTART' | 'TRUNCATE';
/** `diskFull`: there is no room for what would be copied; it stays in the log. */
export type CheckpointAnswer = Checkpointed | 'diskFull';

function checkpoint(mode: CheckpointMode): unknown {
  try {
    return database.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
  } catch (cause) {
    if (isOutOfRoom(cause, file)) return 'diskFull' satisfies CheckpointAnswer;
    throw cause;
  }
}

parentPort?.on('message', (mode: CheckpointMode) => parentPort?.postMessage(checkpoint(mode)));
