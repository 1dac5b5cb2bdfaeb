import fs from 'node:fs';
import { ItemAbsent } from '#ports/storage.ts';
import { besideName, dropName, lookAt, type Spot, where } from './aside.ts';
import { failure } from './disk-errors.ts';
import { confirmMark, type Marks, markText, takeName } from './marks.ts';
import { linkFile } from './placing.ts';

/** A name and its new one, in one folder. */
interface Renaming {
  readonly old: Spot;
  readonly renamed: Spot;
  /** Names what is put aside. */
  readonly token: string;
}

const identityOf = ({ dev, ino }: fs.BigIntStats) => `${dev}:${ino}`;
const isSame = (found: fs.BigIntStats | undefined, identity: string) => found !== undefined && identityOf(found) === identity;
const oldAside = ({ old, token }: Renaming): Spot => ({ folder: old.folder, name: `${besideName(token)}-old` });

/** Renames a folder without replacing anything: rename takes the place of an empty folder only, and mkdir is the claim. */
function renameFolder({ old, renamed }: Renaming): void {
  fs.mkdirSync(where(renamed), 0o700);
  try {
    fs.renameSync(where(old), where(renamed));
  } catch (cause) {
    fs.rmdirSync(where(renamed));
    throw cause;
  }
}

/** Gives a file its old name back, unless somebody has taken it meanwhile. */
function putBack(aside: Spot, old: Spot): void {
  if (linkFile(aside, old)) dropName(aside);
  else fs.renameSync(where(aside), where(old));
}

/**
 * Takes the old name of a file away that has its new name already, and only if it still is that file: somebody may
 * have saved another one under it, which keeps the name.
 * @throws where the old name is gone: another process has deleted or renamed the file, and the new name goes too
 */
function dropOldName(renaming: Renaming, identity: string): void {
  const { old, renamed } = renaming;
  const aside = oldAside(renaming);
  try {
    fs.renameSync(where(old), where(aside));
  } catch (cause) {
    if (isSame(lookAt(renamed), identity)) fs.unlinkSync(where(renamed));
    throw cause;
  }
  const [moved, kept] = [lookAt(aside), lookAt(renamed)];
  const isOurs = kept ? moved?.ino === kept.ino && moved.dev === kept.dev : isSame(moved, identity);
  const isLast = moved?.nlink === 1n; // the new name was taken away meanwhile
  if (isOurs && !isLast) dropName(aside);
  else putBack(aside, old);
  if (isOurs && isLast) throw failure('ENOENT');
}

/**
 * Gives a file or a folder another name; all steps in one turn, so that no other request comes between.
 * @throws ItemAbsent; EEXIST where the new name is taken
 */
export function renameEntry(renaming: Renaming, marks: Marks): void {
  const { old, renamed } = renaming;
  const found = fs.lstatSync(where(old), { bigint: true });
  if (!found.isFile() && !found.isDirectory()) throw new ItemAbsent('neither file nor folder');
  if (lookAt(renamed)) throw failure('EEXIST');
  takeName(marks, identityOf(found));
  if (found.isDirectory()) renameFolder(renaming);
  else if (linkFile(old, renamed)) dropOldName(renaming, identityOf(found));
  else fs.renameSync(where(old), where(renamed));
  confirmMark(marks.own);
}

/** The old name may lie aside: it goes if it is the renamed file, and goes back if somebody had saved another one. */
function settleOldName(renaming: Renaming, identity: string): void {
  const aside = oldAside(renaming);
  const found = lookAt(aside);
  if (!found) return;
  if (isSame(found, identity) && found.nlink > 1n) fs.unlinkSync(where(aside));
  else if (lookAt(renaming.old))
    dropName(aside); // replaced by a newer one since
  else fs.renameSync(where(aside), where(renaming.old));
}

/** Takes away the empty folder by which the rename of a folder claimed the new name. */
function dropClaim({ old, renamed }: Renaming): void {
  if (!lookAt(old)?.isDirectory() || !lookAt(renamed)?.isDirectory()) return;
  try {
    fs.rmdirSync(where(renamed));
  } catch {
    // somebody has put something into it, and may keep it
  }
}

/** Did a rename take place before the crash whose mark is not confirmed? The new name was free when the mark was made. Puts right what is half done. */
export function settleRename(renaming: Renaming, aside: Spot): boolean {
  const identity = markText(aside);
  if (identity === null || identity === '') return false;
  settleOldName(renaming, identity);
  const { old, renamed } = renaming;
  if (isSame(lookAt(old), identity) && isSame(lookAt(renamed), identity)) fs.unlinkSync(where(renamed)); // both names: undone
  dropClaim(renaming);
  // By the name where the identity tells nothing: some file servers number their files anew.
  return isSame(lookAt(renamed), identity) || (lookAt(renamed) !== undefined && lookAt(old) === undefined);
}
