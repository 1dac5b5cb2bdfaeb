import { isDiskFullError } from '#adapters/os/disk-probe.ts';
import { PageTooDeep } from '#core/page-selection.ts';
import {
  ChangeImpossible,
  ItemChanged,
  ItemExists,
  ItemNotFound,
  OutcomeUnknown,
  StorageFull,
  StorageUnavailable,
  StorageUnusable,
} from '#ports/storage-errors.ts';

/** Returns the code of a failed system call, or an empty string if the error has none. */
export const systemErrorCode = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';

/** Thrown if the location's path no longer leads to the folder that was opened. Nothing was changed. */
export class RootGone extends StorageUnavailable {}

/** Thrown if the caller confirmed too long ago that a change is still pending. Nothing was changed: the caller confirms it again. */
export class ConfirmationExpired extends Error {}

/** Returns an error with a code, as Node.js throws it for a failed system call. */
export const errorWithCode = (code: string) => Object.assign(new Error(code), { code });

/** Codes of a missing item. A symbolic link, a path through a file, an invalid name, and a path that is too long count as missing. */
const absentCodes = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENAMETOOLONG'];
const takenCodes = ['EEXIST', 'ENOTEMPTY'];
/** Error codes of a folder that the process may not open or write. A system call that fails with one of them has changed nothing. */
export const accessDeniedCodes: readonly string[] = ['EACCES', 'EPERM', 'EROFS'];
/** The errors that a thread may send, by name. */
const sentErrors: Readonly<Record<string, new (message: string) => Error>> = {
  PageTooDeep,
  ChangeImpossible,
  ItemNotFound,
  ItemExists,
  ItemChanged,
  StorageUnavailable,
  OutcomeUnknown,
  StorageFull,
  StorageUnusable,
  RootGone,
  ConfirmationExpired,
};

/** Returns whether a system call failed because the item is missing. */
export const isAbsentError = (cause: unknown) => absentCodes.includes(systemErrorCode(cause));

/** Returns an error of `sentErrors` as it is, and converts any other to one of `storage-errors.ts`, whose cause alone has the path here. */
export function toStorageError(cause: unknown): Error {
  if (cause instanceof Error && Object.values(sentErrors).some((kind) => cause instanceof kind)) return cause;
  const code = systemErrorCode(cause);
  if (absentCodes.includes(code)) return new ItemNotFound('the file or folder does not exist', { cause });
  if (takenCodes.includes(code)) return new ItemExists('the name is already taken', { cause });
  if (isDiskFullError(cause)) return new StorageFull('the disk is full', { cause });
  return new StorageUnavailable(`the disk returned ${code || 'an unknown error'}`, { cause });
}

/**
 * Runs work that follows the system call which made the change, such as a sync.
 * @throws OutcomeUnknown for every error: the change may be on disk, so recovery must check the folder and record the outcome
 */
export function afterCommitPoint<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw commitPointError(cause);
  }
}

/**
 * Codes of a change that is impossible. EXDEV: a quota of the folder (a project of XFS or ext4) keeps out files that are moved from
 * outside.
 */
const impossibleCodes = [...accessDeniedCodes, 'EXDEV'];

export const isImpossibleError = (cause: unknown): boolean => impossibleCodes.includes(systemErrorCode(cause));

/** Runs a change, or steps before it. @throws ChangeImpossible if the folder does not permit it: nothing was changed */
export function withImpossible<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!isImpossibleError(cause)) throw cause;
    throw new ChangeImpossible('The folder does not permit this change', { cause });
  }
}

/**
 * Runs a change.
 * @throws ChangeImpossible if the folder does not permit it: nothing was changed, or the message says what remains. OutcomeUnknown if a
 *   system call failed, except for a missing item, a taken name or a full disk: after EIO, for example, the change may have been made
 */
export function runDiskChange<T>(change: () => T): T {
  try {
    return withImpossible(change);
  } catch (cause) {
    if (cause instanceof StorageUnavailable || toStorageError(cause).constructor !== StorageUnavailable) throw cause;
    throw new OutcomeUnknown('the disk failed during the change', { cause });
  }
}

/**
 * Undoes a part of a change. If the folder does not permit that either, for example because nothing may be deleted in it, the part stays:
 * recovery could not undo it, either.
 * @param remains what stays, as a sentence for the visitor
 * @throws ChangeImpossible, OutcomeUnknown
 */
export function undo(work: () => void, remains: string): void {
  try {
    work();
  } catch (cause) {
    throw isImpossibleError(cause) ? new ChangeImpossible(remains, { cause }) : commitPointError(cause);
  }
}

/** Runs a deletion. What the folder does not permit to delete stays. */
export function deleteIfPermitted(deletion: () => void): void {
  try {
    deletion();
  } catch (cause) {
    if (!isImpossibleError(cause)) throw cause;
  }
}

/** Returns the error for a failure after the system call which made the change. */
export const commitPointError = (cause: unknown) => new OutcomeUnknown('the disk failed after the change was made', { cause });

/** Codes of a file system that does not support links, hard or symbolic, or that allows no more hard links to a file. */
export const linkUnsupportedCodes: readonly string[] = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EINVAL'];

/** An error as a thread sends it: a message between threads cannot carry the class of an error. */
export interface ErrorMessage {
  readonly kind: string;
  readonly message: string;
}

/** Returns the message for an error. The path on this machine stays in the thread. */
export function errorMessage(cause: unknown): ErrorMessage {
  const error = toStorageError(cause);
  const kind = Object.entries(sentErrors).find(([, sentError]) => error.constructor === sentError)?.[0];
  return { kind: kind ?? StorageUnavailable.name, message: error.message };
}

/** Returns the error that a thread has sent. */
export function errorOf({ kind, message }: ErrorMessage): Error {
  return new (sentErrors[kind] ?? StorageUnavailable)(message);
}
