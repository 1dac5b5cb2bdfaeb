import fs from 'node:fs';
import { ItemStale } from '#ports/storage.ts';
import { dropName, lookAt, named, type Spot, where } from './aside.ts';
import { codeOf, failure } from './disk-errors.ts';
import { etagOf } from './entry.ts';
import { markText, putMark } from './marks.ts';

const linksRefused = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EINVAL'];
const claimMode = 0o600;

/** The second name of a staging copy, on its way over another file. */
const twinEnding = '-twin';
/** Where links are refused: says that the staging copy may have been renamed into place, and over which claim. */
const claimEnding = '-claim';
/** In place of a claim's name, where a file is replaced: no entry has such a name. */
const replacing = '/';

/** Gives the file a second name without ever replacing anything. @returns false where the file system takes no links */
export function linkFile(from: Spot, to: Spot): boolean {
  try {
    fs.linkSync(where(from), where(to));
    return true;
  } catch (cause) {
    if (linksRefused.includes(codeOf(cause))) return false;
    throw cause;
  }
}

/** Where links are refused: an empty file claims the name, and is replaced. */
function claimAndRename(staging: Spot, to: Spot): void {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = fs.constants;
  if (lookAt(to)) throw failure('EEXIST');
  dropName(named(staging, claimEnding)); // of a name that was tried before
  putMark(named(staging, claimEnding), to.name);
  fs.closeSync(fs.openSync(where(to), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, claimMode));
  if (fs.lstatSync(where(to)).size !== 0) throw failure('EEXIST');
  try {
    fs.renameSync(where(staging), where(to));
  } catch (cause) {
    fs.unlinkSync(where(to));
    throw cause;
  }
}

/** Puts a staged file in place under a free name. It keeps its old name too where the file system takes links. @throws EEXIST */
export function placeFile(staging: Spot, to: Spot): void {
  if (!linkFile(staging, to)) claimAndRename(staging, to);
}

/**
 * Puts a staged file in the place of the one that the caller saw; all steps in one turn, so that no other request comes
 * between. The file keeps its old name too where the file system takes links: a crash can then be settled by looking.
 */
export function replaceFile(staging: Spot, to: Spot, etag: string): void {
  let seen: fs.BigIntStats;
  try {
    seen = fs.lstatSync(where(to), { bigint: true });
  } catch (cause) {
    throw new ItemStale('it is gone', { cause });
  }
  if (!seen.isFile() || etagOf(seen) !== etag) throw new ItemStale('it has changed');
  const twin = named(staging, twinEnding);
  const isLinked = linkFile(staging, twin);
  if (!isLinked) putMark(named(staging, claimEnding), replacing);
  fs.renameSync(where(isLinked ? twin : staging), where(to));
}

/**
 * Was a staged file put in place before the crash? It was where it has another name too, beside that of its way over
 * another file; without links, where it is gone although it was about to be renamed. A claim that was left empty goes.
 */
export function settlePlacing(staging: Spot, folder: number): boolean {
  const [staged, twin] = [lookAt(staging), lookAt(named(staging, twinEnding))];
  const claimed = markText(named(staging, claimEnding));
  if (!staged) return claimed !== null;
  if (claimed && claimed !== replacing) {
    const claim = { folder, name: claimed };
    const found = lookAt(claim);
    if (found?.isFile() && found.size === 0n) dropName(claim);
  }
  return staged.nlink > (twin ? 2n : 1n);
}

/** Removes a staging copy, and what told where it was put. */
export function clearStaging(staging: Spot): void {
  for (const ending of ['', twinEnding, claimEnding]) dropName(named(staging, ending));
}
