import { randomFillSync } from 'node:crypto';
import { existsSync, statfsSync, unlinkSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes: the audit entries of some 10,000 downloads, and what a start needs. */
const reserved = 8 << 20;
const piece = 64 << 10; // bytes
const interval = 1000; // ms

/** Room on the disk of the database that is given up when the disk is full, so that downloads can still be recorded. */
export interface ReserveFile extends Disposable {
  /**
   * Is the disk full? Then nothing but what has to be recorded is changed, until room returns.
   * @param leaving bytes that are to stay free
   */
  readonly isFull: (leaving: number) => boolean;
  /** Frees the reserve after a write found the disk full. @returns whether there was anything to free */
  release(): boolean;
}

const bytesFree = ({ bavail, bsize }: { bavail: number; bsize: number }) => bavail * bsize;

/** One piece of memory, filled anew for each piece of the file: all at once would stay in the memory of the process. */
function* randomPieces(bytes: number): Generator<Buffer> {
  const buffer = Buffer.alloc(piece);
  for (let left = bytes; left > 0; left -= piece) yield randomFillSync(buffer).subarray(0, left);
}

/** Keeps a reserve in a folder, of bytes that no file system makes smaller: made once there is room for it, freed at once where a start finds too little room. */
export function keepReserve(folder: string): ReserveFile {
  const file = join(folder, 'reserve');
  let kept = existsSync(file);
  let full = false;
  let busy = false;

  function release(): boolean {
    full = true;
    if (!kept) return false;
    kept = false;
    try {
      unlinkSync(file);
      return true;
    } catch {
      return false; // somebody has deleted it before
    }
  }
  async function restore(): Promise<void> {
    const free = bytesFree(await statfs(folder));
    if (free < reserved) full = true;
    if (free < 2 * reserved) return;
    try {
      await writeFile(file, randomPieces(reserved), { mode: 0o600 });
      kept = true;
      full = false;
    } catch {
      await rm(file, { force: true }); // somebody else took the room
    }
  }
  const timer = setInterval(() => {
    if (busy || kept) return;
    busy = true;
    restore()
      .catch(() => {}) // a disk that fails is noticed by what writes to the database
      .finally(() => {
        busy = false;
      });
  }, interval).unref();

  if (bytesFree(statfsSync(folder)) < reserved) release();
  const isFull = (leaving: number) => full || (leaving > 0 && bytesFree(statfsSync(folder)) < leaving);
  return { isFull, release, [Symbol.dispose]: () => clearInterval(timer) };
}
