import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { foundNoRoom } from '#adapters/os/disk-probe.ts';
import { codeOf, isFull } from './errors.ts';

const writeFailed = 778; // SQLITE_IOERR_WRITE
const probeBytes = 1 << 16; // more than a page of the database, with what a quota rounds up

/**
 * Returns whether a write found no room. SQLite calls one that a quota refused an I/O error, as it does one of a disk
 * that fails: a write of our own beside the database tells which it was.
 * @param wasFull there was no room before: where our own write now succeeds, room has returned since the one that failed
 */
export function isOutOfRoom(error: unknown, databaseFile: string, wasFull = false): boolean {
  if (isFull(error)) return true;
  if (codeOf(error) !== writeFailed) return false;
  const probe = join(dirname(databaseFile), 'quota-probe');
  try {
    writeFileSync(probe, Buffer.alloc(probeBytes), { mode: 0o600 });
    return wasFull;
  } catch (cause) {
    return foundNoRoom(cause);
  } finally {
    rmSync(probe, { force: true });
  }
}
