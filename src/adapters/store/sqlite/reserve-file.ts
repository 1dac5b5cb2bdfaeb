import { randomFillSync } from 'node:crypto';
import { existsSync, statfsSync, unlinkSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes: enough for the audit entries of about 10,000 downloads and for one start of Postern. */
const reserveBytes = 8 << 20;
const chunkBytes = 64 << 10;
const interval = 1000; // ms

/** A file next to the database. Postern deletes it when the disk is full, so that downloads can still be recorded. */
export interface ReserveFile extends Disposable {
  /**
   * Returns whether the disk is full. Then only the necessary records are written, until there is space again.
   * @param minFree bytes that must stay free
   */
  readonly isFull: (minFree: number) => boolean;
  /** Deletes the reserve after a write found the disk full. @returns whether it deleted one */
  release(): boolean;
}

const bytesFree = ({ bavail, bsize }: { bavail: number; bsize: number }) => bavail * bsize;

/** Yields random chunks, all in the same buffer: a buffer for the entire file would stay in the memory of the process. */
function* randomChunks(bytes: number): Generator<Buffer> {
  const buffer = Buffer.alloc(chunkBytes);
  for (let remaining = bytes; remaining > 0; remaining -= chunkBytes) yield randomFillSync(buffer).subarray(0, remaining);
}

/**
 * Keeps a reserve file in a folder. It consists of random bytes, which no file system can compress, and is written as soon
 * as the free space is twice its size. If Postern starts with less free space than the size of the file, it deletes the file at once.
 */
export function openReserveFile(folder: string): ReserveFile {
  const file = join(folder, 'reserve');
  let hasReserve = existsSync(file);
  let isDiskFull = false;
  let isRestoring = false;

  function release(): boolean {
    isDiskFull = true;
    if (!hasReserve) return false;
    hasReserve = false;
    try {
      unlinkSync(file);
      return true;
    } catch {
      return false; // somebody else has deleted it, or it cannot be deleted
    }
  }
  async function restore(): Promise<void> {
    const free = bytesFree(await statfs(folder));
    if (free < reserveBytes) isDiskFull = true;
    if (free < 2 * reserveBytes) return;
    try {
      await writeFile(file, randomChunks(reserveBytes), { mode: 0o600 });
      hasReserve = true;
      isDiskFull = false;
    } catch {
      await rm(file, { force: true }); // something else has used the space
    }
  }
  const timer = setInterval(() => {
    if (isRestoring || hasReserve) return;
    isRestoring = true;
    restore()
      .catch(() => {}) // writes to the database also notice a failing disk, and report it
      .finally(() => {
        isRestoring = false;
      });
  }, interval).unref();

  if (bytesFree(statfsSync(folder)) < reserveBytes) release();
  const isFull = (minFree: number) => isDiskFull || (minFree > 0 && bytesFree(statfsSync(folder)) < minFree);
  return { isFull, release, [Symbol.dispose]: () => clearInterval(timer) };
}
