import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { ItemAbsent } from '#ports/storage.ts';
import { besideName, dropName, lookAt, type Spot, where } from './aside.ts';
import { at } from './beneath.ts';
import { codeOf, failure, onceDone } from './disk-errors.ts';
import { confirmMark, dropMark, isConfirmed, markText, putMark } from './marks.ts';
import { linkFile } from './placing.ts';
import { wipe } from './remove-tree.ts';

/** A file or folder that is removed with all that is in it. */
interface Removal {
  readonly entry: Spot;
  /** Where it is put: there it is gone for every visitor, and tells recovery that it was removed, until that is recorded. */
  readonly aside: Spot;
  readonly token: string;
}

const isBeside = ({ aside, token }: Removal) => aside.name === besideName(token);
/** Where it is put instead, where it cannot be moved into `.postern/`: another file system, or a mount within one. */
const besideOf = ({ entry, token }: Removal): Spot => ({ folder: entry.folder, name: `${besideName(token)}-removed` });

/** Empties what lies beside, at once: nobody sweeps other folders than `.postern/`. */
async function wipeBeside(removal: Removal): Promise<void> {
  const { folder, name } = besideOf(removal);
  const names = (await fs.promises.readdir(at(folder))).filter((entry) => entry.startsWith(name));
  for (const entry of names) await wipe(folder, entry, () => `${name}-${randomBytes(12).toString('hex')}`);
}

/** A file by its time and size, as inode numbers are given out again; somebody's link in its place is no file, and is left. */
function isSameEntry(moved: fs.BigIntStats, found: fs.BigIntStats): boolean {
  if (moved.isDirectory()) return moved.ino === found.ino;
  return !moved.isFile() || (moved.mtimeNs === found.mtimeNs && moved.size === found.size);
}

/**
 * Moves the entry, if it still is the one that was found: on a disk that hung, a move may take place long afterwards,
 * and what somebody has saved under the name since stays there.
 */
function moveFound(entry: Spot, found: fs.BigIntStats, to: Spot): void {
  fs.renameSync(where(entry), where(to));
  const moved = lookAt(to);
  if (!moved || isSameEntry(moved, found)) return;
  if (moved.isFile() && linkFile(to, entry)) dropName(to);
  else fs.renameSync(where(to), where(entry));
  throw failure('ENOENT');
}

async function removeBeside(removal: Removal, found: fs.BigIntStats): Promise<void> {
  putMark(removal.aside, 'removed');
  moveFound(removal.entry, found, besideOf(removal));
  await onceDone(async () => {
    confirmMark(removal.aside);
    await wipeBeside(removal);
  });
}

/** @throws ItemAbsent */
export async function removeEntry(removal: Removal): Promise<void> {
  const found = fs.lstatSync(where(removal.entry), { bigint: true });
  if (!found.isFile() && !found.isDirectory()) throw new ItemAbsent('neither file nor folder');
  if (isBeside(removal)) return removeBeside(removal, found);
  try {
    moveFound(removal.entry, found, removal.aside);
  } catch (cause) {
    if (codeOf(cause) !== 'EXDEV') throw cause;
    await removeBeside(removal, found);
  }
}

/** Does what lies in `.postern/` tell that the entry was removed? */
export const isRemoved = ({ aside, token }: Pick<Removal, 'aside' | 'token'>) => aside.name === token && lookAt(aside) !== undefined;

/** Was an entry removed before the crash that was put beside its place? */
export async function settleRemoval(removal: Removal): Promise<boolean> {
  if (!isConfirmed(removal.aside)) {
    if (markText(removal.aside) === null || !lookAt(besideOf(removal))) return false;
    confirmMark(removal.aside);
  }
  await wipeBeside(removal);
  return true;
}

/** Empties what was put aside, and removes what told that it was removed. */
export async function clearRemoval(aside: Spot): Promise<void> {
  dropMark(aside);
  if (lookAt(aside)) await wipe(aside.folder, aside.name, () => `${aside.name}-${randomBytes(12).toString('hex')}`);
}
