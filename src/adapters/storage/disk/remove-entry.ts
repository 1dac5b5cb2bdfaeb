import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { ItemAbsent } from '#ports/storage.ts';
import { besideName, lookAt, named, type Spot, where } from './aside.ts';
import { at } from './beneath.ts';
import { codeOf, onceDone } from './disk-errors.ts';
import { confirmMark, dropMark, isConfirmed, markText, putMark } from './marks.ts';
import { wipe } from './remove-tree.ts';

/** A file or folder that is removed with all that is in it. */
interface Removal {
  readonly entry: Spot;
  /** Where it is put: there it is gone for every visitor, and tells recovery that it was removed, until that is recorded. */
  readonly aside: Spot;
  readonly token: string;
}

const markEnding = '-mark';
const isBeside = ({ aside, token }: Removal) => aside.name === besideName(token);
/** Where it is put instead, where it cannot be moved into `.postern/`: another file system, or a mount within one. */
const besideOf = ({ entry, token }: Removal): Spot => ({ folder: entry.folder, name: besideName(token) });
const markOf = ({ aside }: Removal) => named(aside, markEnding);

/** Empties what lies beside, at once: nobody sweeps other folders than `.postern/`. */
async function wipeBeside(removal: Removal): Promise<void> {
  const { folder, name } = besideOf(removal);
  const names = (await fs.promises.readdir(at(folder))).filter((entry) => entry.startsWith(name) && !entry.startsWith(name + markEnding));
  for (const entry of names) await wipe(folder, entry, () => `${name}-${randomBytes(12).toString('hex')}`);
}

async function removeBeside(removal: Removal): Promise<void> {
  const mark = markOf(removal);
  putMark(mark, 'removed');
  fs.renameSync(where(removal.entry), where(besideOf(removal)));
  await onceDone(async () => {
    confirmMark(mark);
    await wipeBeside(removal);
  });
}

/** @throws ItemAbsent */
export async function removeEntry(removal: Removal): Promise<void> {
  const found = fs.lstatSync(where(removal.entry));
  if (!found.isFile() && !found.isDirectory()) throw new ItemAbsent('neither file nor folder');
  if (isBeside(removal)) return removeBeside(removal);
  try {
    fs.renameSync(where(removal.entry), where(removal.aside));
  } catch (cause) {
    if (codeOf(cause) !== 'EXDEV') throw cause;
    await removeBeside(removal);
  }
}

/** Was the entry removed before the crash? */
export async function settleRemoval(removal: Removal): Promise<boolean> {
  if (!isBeside(removal) && lookAt(removal.aside)) return true;
  const mark = markOf(removal);
  if (!isConfirmed(mark)) {
    if (markText(mark) === null || !lookAt(besideOf(removal))) return false;
    confirmMark(mark);
  }
  await wipeBeside(removal);
  return true;
}

/** Empties what was put aside, and what told that it was removed. */
export async function clearRemoval(removal: Removal): Promise<void> {
  dropMark(markOf(removal));
  if (isBeside(removal) || !lookAt(removal.aside)) return;
  const { folder, name } = removal.aside;
  await wipe(folder, name, () => `${name}-${randomBytes(12).toString('hex')}`);
}
