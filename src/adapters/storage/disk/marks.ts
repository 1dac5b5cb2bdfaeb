import fs from 'node:fs';
import { StorageFull } from '#ports/storage-errors.ts';
import { afterCommitPoint, linkUnsupportedCodes, systemErrorCode, toStorageError } from './disk-errors.ts';
import { type DirectoryEntry, entryPath, statEntry, unlinkIfPresent, withSuffix } from './staging-area.ts';

/**
 * A mark is an entry next to the evidence. It shows recovery how far a change got. It is created before the change is made, but after
 * the check that a new name is free. It is renamed when the change has taken place. If it was not renamed, recovery checks the folder.
 * A mark is a dangling symbolic link with its text as the target: a full disk usually has space for it. For uploads, see `markAsDone`.
 */
const [markSuffix, doneSuffix] = ['-mark', '-done'];
const markOf = (evidence: DirectoryEntry) => withSuffix(evidence, markSuffix);
const doneOf = (evidence: DirectoryEntry) => withSuffix(evidence, doneSuffix);

/** The evidence of a change that takes a name. */
export interface EvidenceOfName {
  readonly own: DirectoryEntry;
  /** Evidence of pending changes to the same name. If the name is free, the changes without a confirmed mark have not taken it. */
  readonly pending: readonly DirectoryEntry[];
}

/** Creates a symbolic link whose target is the text, or a file with the text if the file system has no links. */
export function writeNote(entry: DirectoryEntry, text: string): void {
  try {
    fs.symlinkSync(text, entryPath(entry));
  } catch (cause) {
    if (!linkUnsupportedCodes.includes(systemErrorCode(cause))) throw cause;
    fs.writeFileSync(entryPath(entry), text, { flag: 'wx', mode: 0o600 });
  }
}

/** Returns the text that `writeNote` stored, or null if there is none. */
export function readNote(entry: DirectoryEntry): string | null {
  const stat = statEntry(entry);
  if (!stat) return null;
  return stat.isSymbolicLink() ? fs.readlinkSync(entryPath(entry)) : fs.readFileSync(entryPath(entry), 'utf8');
}

/** Creates the mark of a change. @param text data for recovery; not empty */
export const createMark = (evidence: DirectoryEntry, text: string): void => writeNote(markOf(evidence), text);

/** Creates the mark of a change whose name is free, and removes the marks of pending changes that have not taken the name. */
export function createMarkForFreeName({ own, pending }: EvidenceOfName, text: string): void {
  for (const evidence of pending) unlinkIfPresent(markOf(evidence));
  createMark(own, text);
}

/** Renames a mark. @returns false if it is missing */
function renameIfPresent(from: DirectoryEntry, to: DirectoryEntry): boolean {
  try {
    fs.renameSync(entryPath(from), entryPath(to));
    return true;
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return false;
    throw cause;
  }
}

/**
 * Renames a mark. A missing mark is no error: another process has removed it, because this process seemed to have ended. The
 * change has taken place nevertheless.
 * @throws OutcomeUnknown if the rename fails: the change has taken place, and recovery must record it
 */
function renameMark(from: DirectoryEntry, to: DirectoryEntry): void {
  afterCommitPoint(() => renameIfPresent(from, to));
}

/** Marks a change as done. */
export const confirmMark = (evidence: DirectoryEntry): void => renameMark(markOf(evidence), doneOf(evidence));
/** Marks an upload as done. Its staging file serves as the mark. */
export const confirmStaging = (staging: DirectoryEntry): void => renameMark(staging, doneOf(staging));

/**
 * Marks an upload as done.
 * @param spare evidence of an earlier change. If its mark exists, it is renamed, which is faster than creating one. null: there is none
 * @returns false if the disk has no space for a mark, so that the staging file serves as the mark
 */
export function markAsDone(staging: DirectoryEntry, spare: DirectoryEntry | null): boolean {
  if (spare && renameIfPresent(doneOf(spare), doneOf(staging))) return true;
  try {
    writeNote(doneOf(staging), 'done');
    return true;
  } catch (cause) {
    if (!(toStorageError(cause) instanceof StorageFull)) throw cause;
    confirmStaging(staging);
    return false;
  }
}

/** Returns whether a change is marked as done. */
export const isConfirmed = (evidence: DirectoryEntry) => statEntry(doneOf(evidence)) !== undefined;

/** Returns the text of an unconfirmed mark, or null if there is none. */
export const markText = (evidence: DirectoryEntry): string | null => readNote(markOf(evidence));

export const deleteDoneMark = (evidence: DirectoryEntry): void => unlinkIfPresent(doneOf(evidence));

/** Deletes the mark of a change, confirmed or not. */
export function deleteMark(evidence: DirectoryEntry): void {
  unlinkIfPresent(markOf(evidence));
  deleteDoneMark(evidence);
}
