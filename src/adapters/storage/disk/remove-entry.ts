import fs from 'node:fs';
import { ItemNotFound } from '#ports/storage-errors.ts';
import { type ConfirmedAt, hasExpired } from './confirmation.ts';
import { afterCommitPoint, ConfirmationExpired, deleteIfPermitted, errorWithCode, systemErrorCode } from './disk-errors.ts';
import { confirmMark, createMark, deleteMark, isConfirmed, markText } from './marks.ts';
import { descriptorPath } from './open-within-root.ts';
import { linkFile } from './place-file.ts';
import { deleteTree } from './remove-tree.ts';
import { type DirectoryEntry, entryPath, siblingName, statEntry, unlinkIfPresent } from './staging-area.ts';

/** The removal of a file, or of a folder with everything in it. */
interface Removal {
  readonly entry: DirectoryEntry;
  /**
   * If this place is in `.postern/` and in the same file system, the entry is moved to it. Otherwise, marks at this name show
   * what was done. The moved entry or the marks stay until the removal is recorded, so that recovery sees that the entry was removed.
   */
  readonly evidence: DirectoryEntry;
  readonly token: string;
}

/** Returns whether the evidence is in the changed folder, not in `.postern/`. */
const hasSiblingEvidence = ({ evidence, token }: Removal) => evidence.name === siblingName(token);
/** Returns the place of a removed entry that cannot be moved to `.postern/`. */
const siblingOf = ({ entry, token }: Removal): DirectoryEntry => ({ folder: entry.folder, name: `${siblingName(token)}-removed` });

/** Returns 24 random characters. Loads `node:crypto` only when it is needed: the module takes 3 MB in each thread. */
const randomText = () => process.getBuiltinModule('node:crypto').randomBytes(12).toString('hex');

/** Returns a function that returns random names with a prefix. */
export const randomNames = (prefix: string) => () => `${prefix}-${randomText()}`;

/** Deletes an entry that was renamed in its folder. This is done at once, because the hourly sweep covers only `.postern/`. */
function deleteSibling(removal: Removal): void {
  const { folder, name } = siblingOf(removal);
  deleteTree(folder, name, randomNames(name));
}

/** Deletes the rest of an entry that was renamed in its folder, and the subfolders that `deleteTree` has moved up. */
function deleteSiblingRest(removal: Removal): void {
  const { folder, name } = siblingOf(removal);
  const names = fs.readdirSync(descriptorPath(folder)).filter((entry) => entry.startsWith(name));
  for (const entry of names) deleteTree(folder, entry, randomNames(name));
}

/**
 * Compares files by time and size, because inode numbers are reused. Compares folders by inode number. Other types, such as symbolic
 * links, count as equal.
 */
function isSameEntry(movedStat: fs.BigIntStats, checkedStat: fs.BigIntStats): boolean {
  if (movedStat.isDirectory()) return movedStat.ino === checkedStat.ino;
  return !movedStat.isFile() || (movedStat.mtimeNs === checkedStat.mtimeNs && movedStat.size === checkedStat.size);
}

/** An entry that was checked, and when its removal was confirmed. */
interface CheckedEntry {
  readonly stat: fs.BigIntStats;
  readonly confirmedAt: ConfirmedAt;
}

/**
 * Moves an entry if it is still the one that was checked. If the disk hung, the move may happen minutes after the check. If this is
 * another entry by then, or the confirmation has expired (a folder may have new files by then), the entry is moved back.
 * @throws ENOENT if it was another entry; ConfirmationExpired
 */
function moveIfSame(entry: DirectoryEntry, checked: CheckedEntry, to: DirectoryEntry): void {
  fs.renameSync(entryPath(entry), entryPath(to));
  const movedStat = statEntry(to);
  const isSame = !movedStat || isSameEntry(movedStat, checked.stat);
  if (isSame && !hasExpired(checked.confirmedAt)) return;
  afterCommitPoint(() => {
    if (movedStat?.isFile() && linkFile(to, entry)) unlinkIfPresent(to);
    else fs.renameSync(entryPath(to), entryPath(entry));
  });
  throw isSame ? new ConfirmationExpired('the disk did not respond in time') : errorWithCode('ENOENT');
}

/** Removes an entry that cannot be moved to `.postern/`: renames it in its folder, and deletes it there. */
function removeViaSibling(removal: Removal, checked: CheckedEntry): void {
  createMark(removal.evidence, 'removed');
  moveIfSame(removal.entry, checked, siblingOf(removal));
  afterCommitPoint(() => {
    confirmMark(removal.evidence);
    deleteIfPermitted(() => deleteSibling(removal));
  });
}

/** Moves an entry to `.postern/`. @returns false if `.postern/` cannot be created, or is in another file system or mount */
function moveToStaging(removal: Removal, checked: CheckedEntry): boolean {
  if (hasSiblingEvidence(removal)) return false;
  try {
    moveIfSame(removal.entry, checked, removal.evidence);
    return true;
  } catch (cause) {
    if (systemErrorCode(cause) !== 'EXDEV') throw cause;
    return false;
  }
}

/** Removes a file or folder. @throws ItemNotFound if the entry is neither; ConfirmationExpired */
export function removeEntry(removal: Removal, confirmedAt: ConfirmedAt): void {
  const stat = fs.lstatSync(entryPath(removal.entry), { bigint: true });
  if (!stat.isFile() && !stat.isDirectory()) throw new ItemNotFound('the item is neither a file nor a folder');
  const checked = { stat, confirmedAt };
  if (!moveToStaging(removal, checked)) removeViaSibling(removal, checked);
}

/** Returns whether the removed entry is in `.postern/`. */
export const isRemoved = ({ evidence, token }: Pick<Removal, 'evidence' | 'token'>) =>
  evidence.name === token && statEntry(evidence) !== undefined;

/** Returns whether an entry was renamed in its folder. If so, deletes the rest of it. */
export function recoverRemoval(removal: Removal): boolean {
  if (!isConfirmed(removal.evidence)) {
    if (markText(removal.evidence) === null || !statEntry(siblingOf(removal))) return false;
    confirmMark(removal.evidence);
  }
  deleteIfPermitted(() => deleteSiblingRest(removal));
  return true;
}

/** Deletes a removed entry and the marks of its removal. */
export function clearRemoval(evidence: DirectoryEntry): void {
  deleteMark(evidence);
  if (statEntry(evidence)) deleteTree(evidence.folder, evidence.name, randomNames(evidence.name));
}
