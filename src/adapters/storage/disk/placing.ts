import fs from 'node:fs';
import { ItemStale } from '#ports/storage.ts';
import { codeOf, failure, linksRefused } from './disk-errors.ts';
import { etagOf } from './entry.ts';
import { confirmStaging, dropMark, putText, textAt } from './marks.ts';
import { type DirectoryEntry, pathOf, statEntry, unlinkIfPresent, withSuffix } from './staging-area.ts';

const claimMode = 0o600;
const largeFile = 16 << 20; // bytes

/** The second name of a staging copy, on its way over another file. */
const twinEnding = '-twin';
/** The name that the file is about to get, where that is not the first that was tried. */
const nameEnding = '-name';
/** Where links are refused: says that the staging copy may have been renamed into place, and over which claim. */
const claimEnding = '-claim';
/** In place of a claim's name, where a file is replaced: no entry has such a name. */
const replacing = '/';

/** Gives the file a second name without ever replacing anything. @returns false where the file system takes no links */
export function linkFile(from: DirectoryEntry, to: DirectoryEntry): boolean {
  try {
    fs.linkSync(pathOf(from), pathOf(to));
    return true;
  } catch (cause) {
    if (linksRefused.includes(codeOf(cause))) return false;
    throw cause;
  }
}

/** Where links are refused: an empty file claims the name, and is replaced. */
function claimAndRename(staging: DirectoryEntry, to: DirectoryEntry): void {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = fs.constants;
  if (statEntry(to)) throw failure('EEXIST');
  unlinkIfPresent(withSuffix(staging, claimEnding)); // of a name that was tried before
  putText(withSuffix(staging, claimEnding), to.name);
  fs.closeSync(fs.openSync(pathOf(to), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, claimMode));
  if (fs.lstatSync(pathOf(to)).size !== 0) throw failure('EEXIST');
  try {
    fs.renameSync(pathOf(staging), pathOf(to));
  } catch (cause) {
    fs.unlinkSync(pathOf(to));
    throw cause;
  }
}

/**
 * Puts a staged file in place under a free name. It keeps its staging name too where the file system takes links.
 * @param isFirst false: another name was tried before
 * @throws EEXIST
 */
export function placeFile(staging: DirectoryEntry, to: DirectoryEntry, isFirst: boolean): void {
  const name = withSuffix(staging, nameEnding);
  if (!isFirst) {
    unlinkIfPresent(name);
    putText(name, to.name);
  }
  if (linkFile(staging, to)) confirmStaging(staging);
  else claimAndRename(staging, to);
}

/**
 * Holds a large file open while it is removed or replaced. The kernel takes up to 0.3 s to free each GiB; it does so when
 * the last descriptor is closed, which takes place in a thread.
 * @returns closes it
 */
function holdLarge(entry: DirectoryEntry, size: bigint): () => void {
  if (size < largeFile) return () => {};
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  try {
    const descriptor = fs.openSync(pathOf(entry), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    return () => fs.close(descriptor, () => {});
  } catch {
    return () => {}; // it may be replaced, and not be read
  }
}

/**
 * Puts a staged file in the place of the one that the caller saw; all steps in one turn, so that no other request comes
 * between. The file keeps its old name too where the file system takes links: a crash can then be settled by looking.
 */
export function replaceFile(staging: DirectoryEntry, to: DirectoryEntry, etag: string): void {
  let seen: fs.BigIntStats;
  try {
    seen = fs.lstatSync(pathOf(to), { bigint: true });
  } catch (cause) {
    throw new ItemStale('it is gone', { cause });
  }
  if (!seen.isFile() || etagOf(seen) !== etag) throw new ItemStale('it has changed');
  const twin = withSuffix(staging, twinEnding);
  const isLinked = linkFile(staging, twin);
  if (!isLinked) putText(withSuffix(staging, claimEnding), replacing);
  const close = holdLarge(to, seen.size);
  try {
    fs.renameSync(pathOf(isLinked ? twin : staging), pathOf(to));
  } finally {
    close();
  }
  if (isLinked) confirmStaging(staging);
}

/** The name under which a file was put in place: another one where that of the change was taken. */
export function recoveredName(staging: DirectoryEntry, name: string): string {
  const claimed = textAt(withSuffix(staging, claimEnding));
  return textAt(withSuffix(staging, nameEnding)) ?? (claimed === null || claimed === replacing ? name : claimed);
}

/** Without links: was the staged file put in place? It is gone although it was about to be renamed. */
export const isRenamed = (staging: DirectoryEntry) => !statEntry(staging) && statEntry(withSuffix(staging, claimEnding)) !== undefined;

/**
 * Returns whether a staged file was put in place before the crash: the target is the same file, or the file has another
 * name beside that of the staging copy (other programs make no hard links in the staging folder). Deletes a claim that was left empty.
 */
export function recoverPlacing(staging: DirectoryEntry, target: DirectoryEntry): boolean {
  const claimed = textAt(withSuffix(staging, claimEnding));
  if (claimed && claimed !== replacing) {
    const claim = { folder: target.folder, name: claimed };
    const found = statEntry(claim);
    if (found?.isFile() && found.size === 0n) unlinkIfPresent(claim);
  }
  const [staged, placed] = [statEntry(staging), statEntry({ ...target, name: recoveredName(staging, target.name) })];
  if (!staged) return false;
  const isInPlace = placed?.ino === staged.ino && placed.dev === staged.dev;
  const isRenamedSince = staged.nlink > 1n && !statEntry(withSuffix(staging, twinEnding));
  return isInPlace || isRenamedSince;
}

/** Removes a staging copy, and what told where it was put. */
export function clearStaging(staging: DirectoryEntry): void {
  const close = holdLarge(staging, statEntry(staging)?.size ?? 0n);
  try {
    dropMark(staging);
    for (const ending of ['', twinEnding, claimEnding, nameEnding]) unlinkIfPresent(withSuffix(staging, ending));
  } finally {
    close();
  }
}
