import { open, statfs } from 'node:fs/promises';
import { join } from 'node:path';

const fullDiskCodes: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const quotaNumber = -122; // EDQUOT of Linux, which Node.js has no name for

/** Returns whether a system call failed because it found no room, on the disk or in a quota. */
export const foundNoRoom = (cause: unknown): boolean =>
  cause instanceof Error && (('code' in cause && fullDiskCodes.includes(cause.code)) || ('errno' in cause && cause.errno === quotaNumber));

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
    if (!foundNoRoom(cause)) throw cause;
  }
}

/** Returns the room on the file system of a folder, in bytes. */
export async function diskRoom(folder: string): Promise<{ free: number; size: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, size: blocks * bsize };
}
