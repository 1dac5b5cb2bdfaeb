import fs from 'node:fs';
import { ItemStale } from '#ports/storage.ts';
import { at } from './beneath.ts';
import { codeOf, failure } from './disk-errors.ts';
import { etagOf } from './entry.ts';

/** A name in an open folder. */
export interface Spot {
  readonly folder: number;
  readonly name: string;
}
const where = ({ folder, name }: Spot) => at(folder, name);
const linksRefused = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EINVAL'];
const claimMode = 0o600;

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
export function claimAndRename(from: Spot, to: Spot): void {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = fs.constants;
  fs.closeSync(fs.openSync(where(to), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, claimMode));
  if (fs.lstatSync(where(to)).size !== 0) throw failure('EEXIST');
  try {
    fs.renameSync(where(from), where(to));
  } catch (cause) {
    fs.unlinkSync(where(to));
    throw cause;
  }
}

/** Renames a folder without replacing anything: rename takes the place of an empty folder only, and mkdir is the claim. */
export function renameFolder(from: Spot, to: Spot): void {
  fs.mkdirSync(where(to), 0o700);
  try {
    fs.renameSync(where(from), where(to));
  } catch (cause) {
    fs.rmdirSync(where(to));
    throw cause;
  }
}

/** The second name of a staging copy, on its way over another file. */
export const twinName = (staging: string) => `${staging}-twin`;

/**
 * Puts a file in the place of the one that the caller saw; all steps in one turn, so that no other request comes
 * between. The file keeps its old name too where the file system takes links: a crash can then be settled by looking.
 */
export function replaceFile(from: Spot, to: Spot, etag: string): void {
  let seen: fs.BigIntStats;
  try {
    seen = fs.lstatSync(where(to), { bigint: true });
  } catch (cause) {
    throw new ItemStale('it is gone', { cause });
  }
  if (!seen.isFile() || etagOf(seen) !== etag) throw new ItemStale('it has changed');
  const twin: Spot = { folder: from.folder, name: twinName(from.name) };
  fs.renameSync(where(linkFile(from, twin) ? twin : from), where(to));
}

/** Takes a new name away again, if it still is the file that was linked there. */
function unlinkSame(linked: Spot, inode: bigint): void {
  const found = fs.lstatSync(where(linked), { bigint: true, throwIfNoEntry: false });
  if (found?.ino === inode) fs.unlinkSync(where(linked));
}

/**
 * Takes a name away only if it still is the file that was linked elsewhere: somebody may have saved a new one.
 * @throws where the name is gone: another process has deleted or renamed the file, and the new name goes too
 */
export function dropOldName(old: Spot, linked: Spot, token: string): void {
  const aside: Spot = { folder: old.folder, name: `.postern-${token}` };
  const { ino } = fs.lstatSync(where(linked), { bigint: true });
  try {
    fs.renameSync(where(old), where(aside));
  } catch (cause) {
    unlinkSame(linked, ino);
    throw cause;
  }
  const [moved, kept] = [fs.lstatSync(where(aside), { bigint: true }), fs.lstatSync(where(linked), { bigint: true })];
  if (moved.ino === kept.ino && moved.dev === kept.dev) fs.unlinkSync(where(aside));
  else if (!linkFile(aside, old)) fs.renameSync(where(aside), where(old));
  else fs.unlinkSync(where(aside));
}
