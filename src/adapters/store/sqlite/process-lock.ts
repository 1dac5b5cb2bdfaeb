import { DatabaseSync } from 'node:sqlite';

const patience = 10_000; // ms that a process which is ending may take
const [busy, noDatabase] = [5, 26]; // SQLITE_BUSY, SQLITE_NOTADB

/** The installation is another process's. */
export class InUse extends Error {}

/**
 * Holds an exclusive transaction on a database file of its own for the life of the process: the kernel's lock, which a
 * killed process loses and a stale process id cannot fake.
 * @throws InUse where another process still holds it after ten seconds; Error where the file is damaged
 */
export function lockProcess(file: string): Disposable {
  const database = new DatabaseSync(file);
  try {
    // A journal in memory: a full disk has no room for one, and nothing is ever written here.
    database.exec(`PRAGMA busy_timeout=${patience}; PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE`);
  } catch (cause) {
    database.close();
    const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : null;
    if (code === busy) throw new InUse('another Postern is running on the same POSTERN_DATA', { cause });
    if (code === noDatabase) throw new Error(`${file} is damaged; delete it: it holds no records`, { cause });
    throw cause;
  }
  return { [Symbol.dispose]: () => database.close() };
}
