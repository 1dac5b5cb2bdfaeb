import fs from 'node:fs';
import { ItemNotFound } from '#ports/storage-errors.ts';
import { afterCommitPoint, commitPointError, deleteIfPermitted, errorWithCode, undo } from './disk-errors.ts';
import { confirmMark, createMarkForFreeName, type EvidenceOfName, markText } from './marks.ts';
import { claimAndRename, deleteEmptyClaim } from './name-claim.ts';
import { linkFile } from './place-file.ts';
import { type DirectoryEntry, entryPath, identityOf, siblingName, statEntry, unlinkIfPresent } from './staging-area.ts';

/** A rename within one folder. */
interface Renaming {
  readonly old: DirectoryEntry;
  readonly newEntry: DirectoryEntry;
  /** Part of the temporary name to which the old entry is renamed before it is deleted. */
  readonly token: string;
}

const hasIdentity = (stat: fs.BigIntStats | undefined, identity: string) => stat !== undefined && identityOf(stat) === identity;
const displacedEntry = ({ old, token }: Renaming): DirectoryEntry => ({ folder: old.folder, name: `${siblingName(token)}-old` });

/** Removes the folder that claimed the new name of a folder. */
function removeClaim(claim: DirectoryEntry): void {
  try {
    fs.rmdirSync(entryPath(claim));
  } catch {
    // The folder is not empty: another process has written to it, so it stays.
  }
}

/** Renames a folder without replacing anything: mkdir claims the new name, and rename can only replace an empty folder. */
function renameFolder({ old, newEntry }: Renaming): void {
  fs.mkdirSync(entryPath(newEntry), 0o700);
  try {
    fs.renameSync(entryPath(old), entryPath(newEntry));
  } catch (cause) {
    removeClaim(newEntry);
    throw cause;
  }
}

/** Moves a displaced file back to its old name. If another file has that name by now, that file stays. */
function restoreOldName(displaced: DirectoryEntry, old: DirectoryEntry): void {
  if (linkFile(displaced, old)) unlinkIfPresent(displaced);
  else fs.renameSync(entryPath(displaced), entryPath(old));
}

/**
 * Removes the old name of a file that already has its new name, but only if it is still the same file: another process may have
 * saved a different file under the old name. That file keeps the name.
 * @throws ENOENT if another process has deleted or renamed the file, or has undone this rename
 * @throws OutcomeUnknown if another process has recovered this rename, and a new file has the old name
 */
function removeOldName(renaming: Renaming, identity: string, mark: DirectoryEntry): void {
  const { old, newEntry } = renaming;
  const displaced = displacedEntry(renaming);
  try {
    fs.renameSync(entryPath(old), entryPath(displaced));
  } catch (cause) {
    if (hasIdentity(statEntry(newEntry), identity))
      undo(() => fs.unlinkSync(entryPath(newEntry)), 'The old name of the file cannot be removed, so it has both names now');
    throw cause;
  }
  const [displacedStat, newStat] = [statEntry(displaced), statEntry(newEntry)];
  const isOurs = newStat ? displacedStat?.ino === newStat.ino && displacedStat.dev === newStat.dev : hasIdentity(displacedStat, identity);
  const isLast = displacedStat?.nlink === 1n; // another process has removed the new name
  afterCommitPoint(() => (isOurs && !isLast ? unlinkIfPresent(displaced) : restoreOldName(displaced, old)));
  if (isOurs ? isLast : !hasIdentity(newStat, identity)) throw errorWithCode('ENOENT');
  if (!isOurs && markText(mark) === null) throw commitPointError(errorWithCode('ENOENT'));
}

/**
 * Renames a file or folder. All steps run in one command of a thread, so that no other change of this process comes between them.
 * @throws ItemNotFound if the entry is neither a file nor a folder
 * @throws EEXIST if the new name is taken
 */
export function renameEntry(renaming: Renaming, evidence: EvidenceOfName): void {
  const { old, newEntry } = renaming;
  const stat = fs.lstatSync(entryPath(old), { bigint: true });
  if (!stat.isFile() && !stat.isDirectory()) throw new ItemNotFound('the item is neither a file nor a folder');
  if (statEntry(newEntry)) throw errorWithCode('EEXIST');
  createMarkForFreeName(evidence, identityOf(stat));
  if (stat.isDirectory()) renameFolder(renaming);
  else if (linkFile(old, newEntry)) removeOldName(renaming, identityOf(stat), evidence.own);
  else claimAndRename(old, newEntry, evidence.own);
  confirmMark(evidence.own);
}

/**
 * Deletes the displaced entry if it is a second name of the renamed file, or if a newer file has the old name. Otherwise moves
 * the displaced entry back.
 */
function recoverOldName(renaming: Renaming, identity: string): void {
  const displaced = displacedEntry(renaming);
  const stat = statEntry(displaced);
  if (!stat) return;
  if (hasIdentity(stat, identity) && stat.nlink > 1n) fs.unlinkSync(entryPath(displaced));
  else if (statEntry(renaming.old))
    unlinkIfPresent(displaced); // a newer file has the old name
  else fs.renameSync(entryPath(displaced), entryPath(renaming.old));
}

/**
 * Returns whether a rename with an unconfirmed mark took place. Repairs a half-done rename. The new name was free
 * when the mark was created.
 */
export function recoverRename(renaming: Renaming, evidence: DirectoryEntry): boolean {
  const identity = markText(evidence);
  if (identity === null || identity === '') return false;
  recoverOldName(renaming, identity);
  const { old, newEntry } = renaming;
  if (hasIdentity(statEntry(old), identity)) deleteEmptyClaim(evidence, newEntry.folder);
  if (hasIdentity(statEntry(old), identity) && hasIdentity(statEntry(newEntry), identity)) {
    deleteIfPermitted(() => fs.unlinkSync(entryPath(newEntry))); // undo
    return false;
  }
  if (statEntry(old)?.isDirectory() && statEntry(newEntry)?.isDirectory()) removeClaim(newEntry);
  // Falls back to the names: some file servers change the inode numbers of files.
  return hasIdentity(statEntry(newEntry), identity) || (statEntry(newEntry) !== undefined && statEntry(old) === undefined);
}
