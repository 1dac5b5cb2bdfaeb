import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import type { BegunChange } from '#ports/storage.ts';
import { at, inFolder, type Root } from './beneath.ts';
import { besideName, stagingSpot } from './disk-upload.ts';
import { twinName } from './placing.ts';
import { wipe } from './remove-tree.ts';

const look = (folder: number, name: string) => fs.lstatSync(at(folder, name), { bigint: true, throwIfNoEntry: false });

/** A staging copy that has another name too, beside that of its way over another file, was put in place. */
async function settleUpload(root: Root, { parent, token }: BegunChange): Promise<boolean> {
  const staging = await stagingSpot(root, parent, token);
  try {
    const [staged, twin] = [look(staging.folder, staging.name), look(staging.folder, twinName(staging.name))];
    return staged !== undefined && staged.nlink > (twin ? 2n : 1n);
  } finally {
    fs.closeSync(staging.folder);
  }
}

/** Removes the staging copy of an upload: by then its outcome is recorded. */
export async function clearStaging(root: Root, { does, parent, token }: BegunChange): Promise<void> {
  if (does !== 'upload') return;
  const staging = await stagingSpot(root, parent, token);
  try {
    for (const name of [twinName(staging.name), staging.name]) if (look(staging.folder, name)) fs.unlinkSync(at(staging.folder, name));
  } finally {
    fs.closeSync(staging.folder);
  }
}

/** The old name may lie aside: it goes if it is the renamed file, and goes back if somebody had saved a new one. */
function settleRename(folder: number, { name, newName, token }: BegunChange): boolean {
  const [aside, renamed] = [look(folder, besideName(token)), look(folder, newName)];
  if (aside && renamed?.ino === aside.ino) fs.unlinkSync(at(folder, besideName(token)));
  else if (aside && !look(folder, name)) fs.renameSync(at(folder, besideName(token)), at(folder, name));
  if (renamed && look(folder, name)?.ino === renamed.ino) fs.unlinkSync(at(folder, newName)); // both names: undone
  return look(folder, newName) !== undefined && look(folder, name) === undefined;
}

async function settleDelete(folder: number, { name, token }: BegunChange): Promise<boolean> {
  const left = (await fs.promises.readdir(at(folder))).filter((entry) => entry.startsWith(besideName(token)));
  for (const entry of left) await wipe(folder, entry, () => `${besideName(token)}-${randomBytes(12).toString('hex')}`);
  return look(folder, name) === undefined;
}

/** Did a change that was recorded as begun take place before the crash? Clears away what it left. */
export function settle(root: Root, change: BegunChange): Promise<boolean> {
  if (change.does === 'upload') return settleUpload(root, change);
  return inFolder(root, change.parent, (folder) => {
    if (change.does === 'rename') return settleRename(folder, change);
    return change.does === 'delete' ? settleDelete(folder, change) : look(folder, change.name) !== undefined;
  });
}
