import { open, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** Codes of a system call that found no room: EDQUOT is known to Node.js by its number alone, on Linux. */
export const fullDiskCodes: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG', 'Unknown system error -122'];
const isFull = (cause: unknown) => cause instanceof Error && 'code' in cause && fullDiskCodes.includes(String(cause.code));

/**
 * Writes to the disk of a folder and waits until it has taken it: what was read before would come from memory even of a
 * disk that died. A full disk answers.
 * @throws where it does not take it
 */
export async function probeDisk(folder: string): Promise<void> {
  try {
    await using file = await open(join(folder, 'probe'), 'w', 0o600);
    await file.write('.');
    await file.datasync();
  } catch (cause) {
    if (!isFull(cause)) throw cause;
  }
}

/** Returns the room on the file system of a folder, in bytes. */
export async function diskRoom(folder: string): Promise<{ free: number; size: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, size: blocks * bsize };
}
