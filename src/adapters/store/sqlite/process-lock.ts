import { DatabaseSync } from 'node:sqlite';

const patience = 10_000; // ms that a process which is ending may take
const busy = 5; // SQLITE_BUSY

/** The installation is another process's. */
export class InUse extends Error {}

/**
 * Holds an exclusive transaction on a database file of its own for the life of the process: the kernel's lock, which a
 * killed process loses and a stale process id cannot fake.
 * @throws InUse where another process still holds it after ten seconds.
 */
export function lockProcess(file: string): Disposable {
  const database = new DatabaseSync(file);
  try {
    database.exec(`PRAGMA busy_timeout=${patience}; BEGIN EXCLUSIVE`);
  } catch (cause) {
    database.close();
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === busy)
      throw new InUse('another Postern is running on the same POSTERN_DATA', { cause });
    throw cause;
  }
  return { [Symbol.dispose]: () => database.close() };
}
