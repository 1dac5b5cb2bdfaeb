import fs from 'node:fs';
import { ItemAbsent } from '#ports/storage.ts';
import { afterCommitPointSync, failure } from './disk-errors.ts';
import { confirmMark, type Marks, markText, takeName } from './marks.ts';
import { linkFile } from './placing.ts';
import { type DirectoryEntry, pathOf, siblingName, statEntry, unlinkIfPresent } from './staging-area.ts';

/** A name and its new one, in one folder. */
interface Renaming {
  readonly old: DirectoryEntry;
  readonly renamed: DirectoryEntry;
  /** Names the old name while it is displaced. */
  readonly token: string;
}

const identityOf = ({ dev, ino }: fs.BigIntStats) => `${dev}:${ino}`;
const isSame = (found: fs.BigIntStats | undefined, identity: string) => found !== undefined && identityOf(found) === identity;
const displacedEntry = ({ old, token }: Renaming): DirectoryEntry => ({ folder: old.folder, name: `${siblingName(token)}-old` });

/** Renames a folder without replacing anything: rename takes the place of an empty folder only, and mkdir is the claim. */
function renameFolder({ old, renamed }: Renaming): void {
  fs.mkdirSync(pathOf(renamed), 0o700);
  try {
    fs.renameSync(pathOf(old), pathOf(renamed));
  } catch (cause) {
    fs.rmdirSync(pathOf(renamed));
    throw cause;
  }
}

/** Gives a file its old name back, unless somebody has taken it meanwhile. */
function putBack(displaced: DirectoryEntry, old: DirectoryEntry): void {
  if (linkFile(displaced, old)) unlinkIfPresent(displaced);
  else fs.renameSync(pathOf(displaced), pathOf(old));
}

/**
 * Takes the old name of a file away that has its new name already, and only if it still is that file: somebody may
 * have saved another one under it, which keeps the name.
 * @throws where the old name is gone: another process has deleted or renamed the file, and the new name goes too
 */
function dropOldName(renaming: Renaming, identity: string): void {
  const { old, renamed } = renaming;
  const displaced = displacedEntry(renaming);
  try {
    fs.renameSync(pathOf(old), pathOf(displaced));
  } catch (cause) {
    if (isSame(statEntry(renamed), identity)) afterCommitPointSync(() => fs.unlinkSync(pathOf(renamed)));
    throw cause;
  }
  const [moved, kept] = [statEntry(displaced), statEntry(renamed)];
  const isOurs = kept ? moved?.ino === kept.ino && moved.dev === kept.dev : isSame(moved, identity);
  const isLast = moved?.nlink === 1n; // the new name was taken away meanwhile
  afterCommitPointSync(() => (isOurs && !isLast ? unlinkIfPresent(displaced) : putBack(displaced, old)));
  if (isOurs && isLast) throw failure('ENOENT');
}

/**
 * Gives a file or a folder another name; all steps in one turn, so that no other request comes between.
 * @throws ItemAbsent; EEXIST where the new name is taken
 */
export function renameEntry(renaming: Renaming, marks: Marks): void {
  const { old, renamed } = renaming;
  const found = fs.lstatSync(pathOf(old), { bigint: true });
  if (!found.isFile() && !found.isDirectory()) throw new ItemAbsent('neither file nor folder');
  if (statEntry(renamed)) throw failure('EEXIST');
  takeName(marks, identityOf(found));
  if (found.isDirectory()) renameFolder(renaming);
  else if (linkFile(old, renamed)) dropOldName(renaming, identityOf(found));
  else fs.renameSync(pathOf(old), pathOf(renamed));
  confirmMark(marks.own);
}

/** Deletes the displaced old name if it is the renamed file; moves it back if somebody had saved another file. */
function settleOldName(renaming: Renaming, identity: string): void {
  const displaced = displacedEntry(renaming);
  const found = statEntry(displaced);
  if (!found) return;
  if (isSame(found, identity) && found.nlink > 1n) fs.unlinkSync(pathOf(displaced));
  else if (statEntry(renaming.old))
    unlinkIfPresent(displaced); // replaced by a newer one since
  else fs.renameSync(pathOf(displaced), pathOf(renaming.old));
}

/** Takes away the empty folder by which the rename of a folder claimed the new name. */
function dropClaim({ old, renamed }: Renaming): void {
  if (!statEntry(old)?.isDirectory() || !statEntry(renamed)?.isDirectory()) return;
  try {
    fs.rmdirSync(pathOf(renamed));
  } catch {
    // somebody has put something into it, and may keep it
  }
}

/** Did a rename take place before the crash whose mark is not confirmed? The new name was free when the mark was made. Puts right what is half done. */
export function recoverRename(renaming: Renaming, evidence: DirectoryEntry): boolean {
  const identity = markText(evidence);
  if (identity === null || identity === '') return false;
  settleOldName(renaming, identity);
  const { old, renamed } = renaming;
  if (isSame(statEntry(old), identity) && isSame(statEntry(renamed), identity)) fs.unlinkSync(pathOf(renamed)); // both names: undone
  dropClaim(renaming);
  // By the name where the identity tells nothing: some file servers number their files anew.
  return isSame(statEntry(renamed), identity) || (statEntry(renamed) !== undefined && statEntry(old) === undefined);
}
