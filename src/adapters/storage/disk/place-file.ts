import fs from 'node:fs';
import { ItemChanged } from '#ports/storage-errors.ts';
import { afterCommitPoint, errorWithCode, linkUnsupportedCodes, systemErrorCode } from './disk-errors.ts';
import { diskEtag } from './entry.ts';
import { confirmStaging, deleteMark, markAsDone, readNote, writeNote } from './marks.ts';
import { type DirectoryEntry, entryPath, statEntry, unlinkIfPresent, withSuffix } from './staging-area.ts';

const claimMode = 0o600;

/** Suffix of the second name of a staging file. `replaceFile` renames this name over the file to replace. */
const secondNameSuffix = '-twin';
/**
 * Suffix of the note with the name under which the file is put in place. The note exists only if the first name was taken and
 * another one is tried.
 */
const nameSuffix = '-name';
/**
 * Suffix of the claim note, which is used on a file system without hard links. It is written before the staging file is
 * renamed into place, and contains the name of the claim: the empty file that the staging file replaces.
 */
const claimSuffix = '-claim';
/** Text of the claim note if a file is replaced and there is no claim. No entry can have this name. */
const noClaim = '/';

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

/** Puts a file in place on a file system without hard links: an empty file claims the name, and is then replaced. */
function claimAndRename(staging: DirectoryEntry, to: DirectoryEntry): void {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = fs.constants;
  if (statEntry(to)) throw errorWithCode('EEXIST');
  unlinkIfPresent(withSuffix(staging, claimSuffix)); // left by an earlier attempt with another name
  writeNote(withSuffix(staging, claimSuffix), to.name);
  fs.closeSync(fs.openSync(entryPath(to), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, claimMode));
  if (fs.lstatSync(entryPath(to)).size !== 0) throw errorWithCode('EEXIST');
  try {
    fs.renameSync(entryPath(staging), entryPath(to));
  } catch (cause) {
    fs.unlinkSync(entryPath(to));
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
  else claimAndRename(staging, to);
}

/**
 * Puts a staging file in place under a free name by a hard link, marks the upload as done, and deletes the name in the staging area. A
 * later removal of the mark does not change the times of the file, and thus not its ETag.
 * @param isFirst false if another name was tried before
 * @param spare evidence whose mark may be used
 * @returns false if the system allows no further hard link to the file: nothing was changed
 * @throws EEXIST if the name is taken
 */
export function moveByLink(staging: DirectoryEntry, to: DirectoryEntry, isFirst: boolean, spare: DirectoryEntry | null): boolean {
  noteName(staging, to.name, isFirst);
  if (!linkFile(staging, to)) return false;
  afterCommitPoint(() => {
    markAsDone(staging, spare);
    fs.unlinkSync(entryPath(staging));
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
  if (!isLinked) writeNote(withSuffix(staging, claimSuffix), noClaim);
  fs.renameSync(entryPath(isLinked ? secondName : staging), entryPath(to));
  if (isLinked) confirmStaging(staging);
}

/** Returns the name under which a file was put in place. It differs from the requested name if that one was taken. */
export function recoveredName(staging: DirectoryEntry, name: string): string {
  const claimName = readNote(withSuffix(staging, claimSuffix));
  return readNote(withSuffix(staging, nameSuffix)) ?? (claimName === null || claimName === noClaim ? name : claimName);
}

/**
 * Returns whether a staging file was renamed into place on a file system without hard links: its claim note exists, but
 * the staging file does not.
 */
export const isStagingRenamed = (staging: DirectoryEntry) =>
  !statEntry(staging) && statEntry(withSuffix(staging, claimSuffix)) !== undefined;

/**
 * Returns whether a staging file was put in place by a hard link: the target is the same file, or the file has a
 * name outside the staging area. Without hard links, `isStagingRenamed` tells it. Assumes that other programs create no hard links to
 * staging files. Deletes a claim that is still empty.
 */
export function recoverPlacing(staging: DirectoryEntry, target: DirectoryEntry): boolean {
  const claimName = readNote(withSuffix(staging, claimSuffix));
  if (claimName && claimName !== noClaim) {
    const claim = { folder: target.folder, name: claimName };
    const stat = statEntry(claim);
    if (stat?.isFile() && stat.size === 0n) unlinkIfPresent(claim);
  }
  const [stagingStat, targetStat] = [statEntry(staging), statEntry({ ...target, name: recoveredName(staging, target.name) })];
  if (!stagingStat) return false;
  const isInPlace = targetStat?.ino === stagingStat.ino && targetStat.dev === stagingStat.dev;
  const hasOtherName = stagingStat.nlink > 1n && !statEntry(withSuffix(staging, secondNameSuffix));
  return isInPlace || hasOtherName;
}

/** Deletes the name note of a file that was not put in place. */
export const deleteNameNote = (staging: DirectoryEntry) => unlinkIfPresent(withSuffix(staging, nameSuffix));

/** Deletes a staging file, its mark and its notes. */
export function clearStaging(staging: DirectoryEntry): void {
  deleteMark(staging);
  for (const suffix of ['', secondNameSuffix, claimSuffix, nameSuffix]) unlinkIfPresent(withSuffix(staging, suffix));
}
