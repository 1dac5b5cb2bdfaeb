import { foundNoRoom } from '#adapters/os/disk-probe.ts';
import { PageTooDeep } from '#core/listing.ts';
import { ItemAbsent, ItemExists, ItemStale, StorageAway, StorageFull, StorageRefused } from '#ports/storage.ts';

/** Returns the code of a failed system call, or an empty string if the error has none. */
export const codeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';

/** Thrown if the location's path no longer leads to the folder that was opened. Nothing was changed. */
export class RootGone extends StorageAway {}
/** Code of `RootGone` in messages between threads. */
export const rootGone = 'EROOTGONE';

/** Code of `PageTooDeep` in messages between threads. */
export const pageTooDeep = 'EPAGETOODEEP';

/** Returns an error with a code, as Node.js throws it for a failed system call. */
export const failure = (code: string) => Object.assign(new Error(code), { code });

/** Codes of a missing item. A link, a path through a file, and a path that is too long count as missing. */
const absentCodes = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENAMETOOLONG'];
const takenCodes = ['EEXIST', 'ENOTEMPTY'];
const portErrors = [PageTooDeep, ItemAbsent, ItemExists, ItemStale, StorageAway, StorageFull, StorageRefused];

/** Returns whether a system call failed because the item is missing. */
export const isAbsent = (cause: unknown) => absentCodes.includes(codeOf(cause));

/** Converts the error of a failed system call to an error of the port. Only its cause contains the path on this machine. */
export function storageError(cause: unknown): Error {
  if (cause instanceof Error && portErrors.some((kind) => cause instanceof kind)) return cause;
  const code = codeOf(cause);
  if (code === pageTooDeep) return new PageTooDeep('the page lies too deep', { cause });
  if (code === rootGone) return new RootGone('the folder of the location is gone', { cause });
  if (absentCodes.includes(code)) return new ItemAbsent('nothing lies there', { cause });
  if (takenCodes.includes(code)) return new ItemExists('the name is taken', { cause });
  if (foundNoRoom(cause)) return new StorageFull('the disk is full', { cause });
  return new StorageAway(`the disk answered ${code || 'an unknown error'}`, { cause });
}

/**
 * Runs work that follows the system call which made the change, such as a sync.
 * @throws StorageAway for every error: the change may be on disk, so that recovery must check the folder and record the outcome
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
export const commitPointError = (cause: unknown) => new StorageAway('the disk failed behind a change that was made', { cause });

/** Codes of a file system that does not support links, or allows no further link to a file. */
export const linksRefused: readonly string[] = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EINVAL'];
