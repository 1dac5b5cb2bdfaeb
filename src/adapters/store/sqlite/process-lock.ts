import { DatabaseSync } from 'node:sqlite';

const busyTimeout = 10_000; // ms that a process may take to shut down
const [busyCode, notDatabaseCode] = [5, 26]; // SQLITE_BUSY, SQLITE_NOTADB

/** Another process uses the installation. */
export class InstallationInUse extends Error {}

/**
 * Locks the installation for the life of the process, by an exclusive transaction on a database file that is used for
 * nothing else. It is a lock of the kernel: unlike a file with a process id, it ends when the process is killed.
 * @throws InstallationInUse if another process still holds the lock after ten seconds; Error if the file is damaged
 */
export function lockProcess(file: string): Disposable {
  const database = new DatabaseSync(file);
  try {
    // The journal is in memory: a full disk has no space for a file, and nothing is ever written to this database.
    database.exec(`PRAGMA busy_timeout=${busyTimeout}; PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE`);
  } catch (cause) {
    database.close();
    const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : null;
    if (code === busyCode) throw new InstallationInUse('another Postern process already uses this POSTERN_DATA folder', { cause });
    if (code === notDatabaseCode) throw new Error(`${file} is damaged. Delete it: it contains no records`, { cause });
    throw cause;
  }
  return { [Symbol.dispose]: () => database.close() };
}
