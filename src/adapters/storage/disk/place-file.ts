import fs from 'node:fs';
import { ItemChanged } from '#ports/storage-errors.ts';
import { afterCommitPoint, linkUnsupportedCodes, systemErrorCode } from './disk-errors.ts';
import { diskEtag } from './entry.ts';
import { confirmStaging, deleteMark, markAsDone, readNote, writeNote } from './marks.ts';
import { claimAndRename, claimedName, deleteClaimNotes, deleteEmptyClaim, hasClaimNote, noteNoClaim } from './name-claim.ts';
import { type DirectoryEntry, entryPath, statEntry, unlinkIfPresent, withSuffix } from './staging-area.ts';

/** Suffix of the second name of a staging file. `replaceFile` renames this name over the file to replace. */
const secondNameSuffix = '-twin';
/**
 * Suffix of the note with the name under which the file is put in place. The note exists only if the first name was taken and
 * another one is tried.
 */
const nameSuffix = '-name';

/**
 * Gives a file a second name, and never replaces another file.
 * @returns false if the system allows no further hard link to the file, for example because the file system has none
 * @throws EEXIST if the name is taken
 */
export function linkFile(from: DirectoryEntry, to: DirectoryEntry): boolean {
  try {
    fs.linkSync(entryPath(from), entryPath(to));
    return true;
  } catch (cause) {
    if (linkUnsupportedCodes.includes(systemErrorCode(cause))) return false;
    throw cause;
  }
}

/** Writes the name note before another name than the first one is tried. */
function noteName(staging: DirectoryEntry, name: string, isFirst: boolean): void {
  if (isFirst) return;
  unlinkIfPresent(withSuffix(staging, nameSuffix));
  writeNote(withSuffix(staging, nameSuffix), name);
}

/**
 * Puts a staging file in place under a free name. With hard links, the file also keeps a name in the staging area. This
 * name is changed to mark the upload as done.
 * @param isFirst false if another name was tried before
 * @throws EEXIST if the name is taken
 */
export function placeFile(staging: DirectoryEntry, to: DirectoryEntry, isFirst: boolean): void {
  noteName(staging, to.name, isFirst);
  if (linkFile(staging, to)) confirmStaging(staging);
  else claimAndRename(staging, to, staging);
}

/**
 * Puts a staging file in place under a free name by a hard link, marks the upload as done, and deletes the name in the staging area. A
 * later removal of the mark does not change the times of the file, and thus not its ETag. If the disk has no space for a mark, the name in
 * the staging area becomes the mark instead of being deleted.
 * @param isFirst false if another name was tried before
 * @param spare evidence of an earlier change, whose mark is renamed to save time; null: there is none
 * @returns false if the system allows no further hard link to the file: it was not put in place
 * @throws EEXIST if the name is taken
 */
export function moveByLink(staging: DirectoryEntry, to: DirectoryEntry, isFirst: boolean, spare: DirectoryEntry | null): boolean {
  noteName(staging, to.name, isFirst);
  if (!linkFile(staging, to)) return false;
  afterCommitPoint(() => {
    if (markAsDone(staging, spare)) fs.unlinkSync(entryPath(staging));
  });
  return true;
}

/**
 * Replaces a file by a staging file. All steps run in one command of a thread, so that no other change of this process
 * comes between them. With hard links, the file also keeps a name in the staging area, which shows recovery the outcome.
 * @param etag validator of the file that the caller wants to replace
 * @throws ItemChanged if that file no longer exists or has changed
 */
export function replaceFile(staging: DirectoryEntry, to: DirectoryEntry, etag: string): void {
  const current = statEntry(to);
  if (!current) throw new ItemChanged('the file no longer exists');
  if (!current.isFile() || diskEtag(current) !== etag) throw new ItemChanged('the file has changed');
  const secondName = withSuffix(staging, secondNameSuffix);
  const isLinked = linkFile(staging, secondName);
  if (!isLinked) noteNoClaim(staging);
  fs.renameSync(entryPath(isLinked ? secondName : staging), entryPath(to));
  if (isLinked) confirmStaging(staging);
}

/** Returns the name under which a file was put in place. It differs from the requested name if that one was taken. */
export function recoveredName(staging: DirectoryEntry, name: string): string {
  return readNote(withSuffix(staging, nameSuffix)) ?? claimedName(staging) ?? name;
}

/**
 * Returns whether a staging file was renamed into place on a file system without hard links: its claim note exists, but
 * the staging file does not.
 */
export const isStagingRenamed = (staging: DirectoryEntry) => !statEntry(staging) && hasClaimNote(staging);

/**
 * Returns whether a staging file was put in place by a hard link: the target is the same file, or the file has a name outside the staging
 * area. For a file system without hard links, see `isStagingRenamed`. Assumes that other programs create no hard links to staging files.
 * Also deletes the claim of the change, if it is still an empty file (name-claim.ts).
 */
export function recoverPlacing(staging: DirectoryEntry, target: DirectoryEntry): boolean {
  deleteEmptyClaim(staging, target.folder);
  const [stagingStat, targetStat] = [statEntry(staging), statEntry({ ...target, name: recoveredName(staging, target.name) })];
  if (!stagingStat) return false;
  const isInPlace = targetStat?.ino === stagingStat.ino && targetStat.dev === stagingStat.dev;
  const hasOtherName = stagingStat.nlink > 1n && !statEntry(withSuffix(staging, secondNameSuffix));
  return isInPlace || hasOtherName;
}

/** Deletes the name note of a file that was not put in place. */
export const deleteNameNote = (staging: DirectoryEntry) => unlinkIfPresent(withSuffix(staging, nameSuffix));

/** Deletes a staging file, its second name, its mark and its notes. */
export function clearStaging(staging: DirectoryEntry): void {
  deleteMark(staging);
  deleteClaimNotes(staging);
  for (const suffix of ['', secondNameSuffix, nameSuffix]) unlinkIfPresent(withSuffix(staging, suffix));
}
