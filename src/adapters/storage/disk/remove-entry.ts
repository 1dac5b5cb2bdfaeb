import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { ItemAbsent } from '#ports/storage.ts';
import { afterCommitPoint, codeOf, failure } from './disk-errors.ts';
import { confirmMark, dropMark, isConfirmed, markText, putMark } from './marks.ts';
import { at } from './open-within-root.ts';
import { linkFile } from './placing.ts';
import { deleteTree } from './remove-tree.ts';
import { type DirectoryEntry, pathOf, siblingName, statEntry, unlinkIfPresent } from './staging-area.ts';

/** A file or folder that is removed with all that is in it. */
interface Removal {
  readonly entry: DirectoryEntry;
  /** Where it is moved: visitors do not see it there, and recovery sees that it was removed. It stays until that is recorded. */
  readonly evidence: DirectoryEntry;
  readonly token: string;
}

const isBeside = ({ evidence, token }: Removal) => evidence.name === siblingName(token);
/** Where it is moved if it cannot be moved to `.postern/`: on another file system, or in a mount within one. */
const besideOf = ({ entry, token }: Removal): DirectoryEntry => ({ folder: entry.folder, name: `${siblingName(token)}-removed` });

const freshName = (name: string) => () => `${name}-${randomBytes(12).toString('hex')}`;

/** Empties the removed entry beside its place at once: a start sweeps no folder but `.postern/`. */
async function wipeBeside(removal: Removal): Promise<void> {
  const { folder, name } = besideOf(removal);
  await deleteTree(folder, name, freshName(name));
}

/** The same after a crash, which may have left folders that were moved up out of it. */
async function wipeLeft(removal: Removal): Promise<void> {
  const { folder, name } = besideOf(removal);
  const names = (await fs.promises.readdir(at(folder))).filter((entry) => entry.startsWith(name));
  for (const entry of names) await deleteTree(folder, entry, freshName(name));
}

/** Compares files by time and size, since inode numbers are reused. A symbolic link that somebody has put in its place is ignored. */
function isSameEntry(moved: fs.BigIntStats, found: fs.BigIntStats): boolean {
  if (moved.isDirectory()) return moved.ino === found.ino;
  return !moved.isFile() || (moved.mtimeNs === found.mtimeNs && moved.size === found.size);
}

/**
 * Moves the entry if it is still the one that was found. On a disk that hung, the move may happen minutes later: a file
 * that somebody has saved under the name meanwhile is moved back.
 */
function moveFound(entry: DirectoryEntry, found: fs.BigIntStats, to: DirectoryEntry): void {
  fs.renameSync(pathOf(entry), pathOf(to));
  const moved = statEntry(to);
  if (!moved || isSameEntry(moved, found)) return;
  if (moved.isFile() && linkFile(to, entry)) unlinkIfPresent(to);
  else fs.renameSync(pathOf(to), pathOf(entry));
  throw failure('ENOENT');
}

async function removeBeside(removal: Removal, found: fs.BigIntStats): Promise<void> {
  putMark(removal.evidence, 'removed');
  moveFound(removal.entry, found, besideOf(removal));
  await afterCommitPoint(async () => {
    confirmMark(removal.evidence);
    await wipeBeside(removal);
  });
}

/** @throws ItemAbsent */
export async function removeEntry(removal: Removal): Promise<void> {
  const found = fs.lstatSync(pathOf(removal.entry), { bigint: true });
  if (!found.isFile() && !found.isDirectory()) throw new ItemAbsent('neither file nor folder');
  if (isBeside(removal)) return removeBeside(removal, found);
  try {
    moveFound(removal.entry, found, removal.evidence);
  } catch (cause) {
    if (codeOf(cause) !== 'EXDEV') throw cause;
    await removeBeside(removal, found);
  }
}

/** Returns whether the entry lies removed in `.postern/`. */
export const isRemoved = ({ evidence, token }: Pick<Removal, 'evidence' | 'token'>) =>
  evidence.name === token && statEntry(evidence) !== undefined;

/** Returns whether an entry was removed before the crash and lies beside its place. */
export async function recoverRemoval(removal: Removal): Promise<boolean> {
  if (!isConfirmed(removal.evidence)) {
    if (markText(removal.evidence) === null || !statEntry(besideOf(removal))) return false;
    confirmMark(removal.evidence);
  }
  await wipeLeft(removal);
  return true;
}

/** Empties a removed entry, and deletes the marks of its removal. */
export async function clearRemoval(evidence: DirectoryEntry): Promise<void> {
  dropMark(evidence);
  if (statEntry(evidence)) await deleteTree(evidence.folder, evidence.name, freshName(evidence.name));
}
