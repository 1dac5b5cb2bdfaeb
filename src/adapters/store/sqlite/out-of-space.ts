import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDiskFullError } from '#adapters/os/disk-probe.ts';
import { isSqliteFull, sqliteCodeOf } from './errors.ts';

const writeFailed = 778; // SQLITE_IOERR_WRITE
const probeBytes = 1 << 16; // more than a page of the database needs, even if the quota counts in large blocks

/**
 * Returns whether a write failed for lack of space. SQLite reports a write that a quota refused as an I/O error, as it
 * does for a failing disk: a test write next to the database distinguishes the two.
 * @param wasFull whether the disk or the quota was full before. Then a successful test write means that space has become free
 */
export function isOutOfSpace(error: unknown, databaseFile: string, wasFull = false): boolean {
  if (isSqliteFull(error)) return true;
  if (sqliteCodeOf(error) !== writeFailed) return false;
  const probe = join(dirname(databaseFile), 'quota-probe');
  try {
    writeFileSync(probe, Buffer.alloc(probeBytes), { mode: 0o600 });
    return wasFull;
  } catch (cause) {
    return isDiskFullError(cause);
  } finally {
    rmSync(probe, { force: true });
  }
}
