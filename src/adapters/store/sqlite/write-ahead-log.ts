import assert from 'node:assert/strict';
import { closeSync, fdatasyncSync, fstatSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '#adapters/os/durable-file.ts';
import { startThread } from '#adapters/os/thread.ts';

/** The file to which every commit goes first. */
export interface WriteAheadLog {
  /** Waits until everything written so far is on disk; one at a time. */
  sync(): Promise<void>;
  /** Is it still the file that SQLite writes to? */
  verify(): void;
  /** How long the file has grown. */
  bytes(): number;
  close(): Promise<void>;
}

/**
 * Opens the -wal file of a database whose writing connection is open and has used it. Never open the database or its
 * -shm in this process: closing any descriptor of those drops SQLite's own locks.
 * @param lost called when the thread ends or a sync fails: the outcome of what was committed is unknown
 */
export function openWriteAheadLog(databaseFile: string, lost: (cause: unknown) => void): WriteAheadLog {
  const file = `${databaseFile}-wal`;
  const descriptor = openSync(file, 'r+');
  const verify = () => {
    const [ours, named] = [fstatSync(descriptor), statSync(file)];
    assert.ok(ours.ino === named.ino && ours.dev === named.dev && ours.nlink === 1, 'the -wal file was replaced');
  };
  verify();
  fdatasyncSync(descriptor);
  syncFolder(dirname(file));

  const thread = startThread('./sync-thread', import.meta.url);
  thread.on('error', lost).on('exit', lost);
  thread.unref();
  return {
    verify,
    bytes: () => fstatSync(descriptor).size,
    sync: () =>
      new Promise((resolve) => {
        thread.ref();
        thread.once('message', () => {
          thread.unref();
          resolve();
        });
        thread.postMessage(descriptor);
      }),
    async close() {
      thread.off('error', lost).off('exit', lost);
      await thread.terminate();
      closeSync(descriptor);
    },
  };
}
