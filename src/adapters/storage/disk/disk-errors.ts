import { foundNoRoom } from '#adapters/os/disk-probe.ts';
import { PageTooDeep } from '#core/listing.ts';
import { ItemAbsent, ItemExists, ItemStale, StorageAway, StorageFull, StorageRefused } from '#ports/storage.ts';

/** The error code of a failed system call, or an empty text. */
export const codeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';

/** The location's folder is not the one that was opened: nothing was done. */
export class RootGone extends StorageAway {}
/** Its code between threads. */
export const rootGone = 'EROOTGONE';

/** The code of a page that lies too deep, between threads. */
export const pageTooDeep = 'EPAGETOODEEP';

export const failure = (code: string) => Object.assign(new Error(code), { code });

/** A link, a file where a folder should be, a path longer than any: nothing of ours lies there. */
const absent = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENAMETOOLONG'];
const taken = ['EEXIST', 'ENOTEMPTY'];
const ours = [PageTooDeep, ItemAbsent, ItemExists, ItemStale, StorageAway, StorageFull, StorageRefused];

export const isAbsent = (cause: unknown) => absent.includes(codeOf(cause));

/** What a failed system call means, in the port's words; the path of the machine stays in the cause. */
export function storageError(cause: unknown): Error {
  if (cause instanceof Error && ours.some((kind) => cause instanceof kind)) return cause;
  const code = codeOf(cause);
  if (code === pageTooDeep) return new PageTooDeep('the page lies too deep', { cause });
  if (code === rootGone) return new RootGone('the folder of the location is gone', { cause });
  if (absent.includes(code)) return new ItemAbsent('nothing lies there', { cause });
  if (taken.includes(code)) return new ItemExists('the name is taken', { cause });
  if (foundNoRoom(cause)) return new StorageFull('the disk is full', { cause });
  return new StorageAway(`the disk answered ${code || 'an unknown error'}`, { cause });
}

/**
 * Runs what follows the deciding system call, such as a sync. After an error there the change may be on disk: recovery
 * must check the folder before it records the outcome.
 */
export async function afterCommitPoint<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw commitPointError(cause);
  }
}

/** The same for what is done in one turn of the event loop. */
export function afterCommitPointSync<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw commitPointError(cause);
  }
}

/** What failed after the deciding system call. */
export const commitPointError = (cause: unknown) => new StorageAway('the disk failed behind a change that was made', { cause });

/** Codes of a file system that has no links, or gives no further one. */
export const linksRefused: readonly string[] = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EINVAL'];
