import { isDiskFullError } from '#adapters/os/disk-probe.ts';
import { PageTooDeep } from '#core/listing.ts';
import { ItemChanged, ItemExists, ItemNotFound, StorageFull, StorageUnavailable, StorageUnusable } from '#ports/storage.ts';

/** Returns the code of a failed system call, or an empty string if the error has none. */
export const systemErrorCode = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';

/** Thrown if the location's path no longer leads to the folder that was opened. Nothing was changed. */
export class RootGone extends StorageUnavailable {}
/** Code of `RootGone` in messages between threads. */
export const rootGoneCode = 'EROOTGONE';

/** Code of `PageTooDeep` in messages between threads. */
export const pageTooDeepCode = 'EPAGETOODEEP';

/** Returns an error with a code, as Node.js throws it for a failed system call. */
export const errorWithCode = (code: string) => Object.assign(new Error(code), { code });

/** Codes of a missing item. A link, a path through a file, and a path that is too long count as missing. */
const absentCodes = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENAMETOOLONG'];
const takenCodes = ['EEXIST', 'ENOTEMPTY'];
const portErrors = [PageTooDeep, ItemNotFound, ItemExists, ItemChanged, StorageUnavailable, StorageFull, StorageUnusable];

/** Returns whether a system call failed because the item is missing. */
export const isAbsentError = (cause: unknown) => absentCodes.includes(systemErrorCode(cause));

/** Converts the error of a failed system call to an error of the port. Only its cause contains the path on this machine. */
export function toStorageError(cause: unknown): Error {
  if (cause instanceof Error && portErrors.some((kind) => cause instanceof kind)) return cause;
  const code = systemErrorCode(cause);
  if (code === pageTooDeepCode) return new PageTooDeep('the page lies too deep', { cause });
  if (code === rootGoneCode) return new RootGone('the folder of the location is gone', { cause });
  if (absentCodes.includes(code)) return new ItemNotFound('the file or folder does not exist', { cause });
  if (takenCodes.includes(code)) return new ItemExists('the name is already taken', { cause });
  if (isDiskFullError(cause)) return new StorageFull('the disk is full', { cause });
  return new StorageUnavailable(`the disk returned ${code || 'an unknown error'}`, { cause });
}

/**
 * Runs work that follows the system call which made the change, such as a sync.
 * @throws StorageUnavailable for every error: the change may be on disk, so that recovery must check the folder and record the outcome
 */
export async function afterCommitPoint<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw commitPointError(cause);
  }
}

/** Does the same as `afterCommitPoint`, in one turn of the event loop. */
export function afterCommitPointSync<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw commitPointError(cause);
  }
}

/** Returns the error for a failure after the system call which made the change. */
export const commitPointError = (cause: unknown) => new StorageUnavailable('the disk failed after the change was made', { cause });

/** Codes of a file system that does not support links, or allows no further link to a file. */
export const linkUnsupportedCodes: readonly string[] = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EINVAL'];
