import assert from 'node:assert/strict';
import { closeSync, fdatasyncSync, fstatSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '#adapters/os/durable-file.ts';
import { startThread } from '#adapters/os/thread.ts';

/** The file to which SQLite writes every commit first. */
export interface WriteAheadLog {
  /** Waits until everything written so far is on disk. Only one call may run at a time. */
  sync(): Promise<void>;
  /** Checks that SQLite still writes to this file. @throws Error if the file was replaced or deleted */
  verify(): void;
  /** Returns the size of the file. */
  bytes(): number;
  close(): Promise<void>;
}

/**
 * Opens the -wal file of a database. The writing connection must be open, and must have opened this file. Never open the
 * database file or its -shm file in this process except through SQLite: closing any descriptor of them releases SQLite's own locks.
 * @param onLost called when the thread ends or a sync fails: whether committed changes are on disk is unknown
 */
export function openWriteAheadLog(databaseFile: string, onLost: (cause: unknown) => void): WriteAheadLog {
  const file = `${databaseFile}-wal`;
  const descriptor = openSync(file, 'r+');
  const verify = () => {
    const [openedStat, currentStat] = [fstatSync(descriptor), statSync(file)];
    assert.ok(
      openedStat.ino === currentStat.ino && openedStat.dev === currentStat.dev && openedStat.nlink === 1,
      'the -wal file was replaced',
    );
  };
  verify();
  fdatasyncSync(descriptor);
  syncFolder(dirname(file));

  const thread = startThread('./sync-thread', import.meta.url);
  thread.on('error', onLost).on('exit', onLost);
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
      thread.off('error', onLost).off('exit', onLost);
      await thread.terminate();
      closeSync(descriptor);
    },
  };
}
