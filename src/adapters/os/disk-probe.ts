import { open, statfs } from 'node:fs/promises';
import { join } from 'node:path';

const fullDiskCodes: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const quotaErrno = -122; // EDQUOT on Linux: Node.js has no name for it

/** Returns whether a system call failed because the disk or a quota is full, or the file has its maximum size. */
export const isDiskFullError = (cause: unknown): boolean =>
  cause instanceof Error && (('code' in cause && fullDiskCodes.includes(cause.code)) || ('errno' in cause && cause.errno === quotaErrno));

/**
 * Checks the disk of a folder by writing a file and syncing it. A read proves nothing: the page cache answers even after the disk
 * has failed. A full disk passes the check.
 * @throws the error of the system call that failed
 */
export async function probeDisk(folder: string): Promise<void> {
  try {
    await using file = await open(join(folder, 'probe'), 'w', 0o600);
    await file.write('.');
    await file.datasync();
  } catch (cause) {
    if (!isDiskFullError(cause)) throw cause;
  }
}

/** Returns the free space and the size of the file system of a folder, in bytes. */
export async function diskSpace(folder: string): Promise<{ free: number; size: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, size: blocks * bsize };
}
