import fs from 'node:fs';
import { promisify } from 'node:util';
import { foundNoRoom } from '#adapters/os/disk-probe.ts';
import { codeOf } from './disk-errors.ts';
import { at } from './open-within-root.ts';

const open = promisify(fs.open);
// In a thread, and one after the other: the kernel takes up to 0.3 s for each GiB of a file.
const unlink = promisify(fs.unlink);
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fs.constants;

type Name = string | Uint8Array;
const inside = (folder: number, name: Name) => Buffer.concat([Buffer.from(`${at(folder)}/`), Buffer.from(name)]);

async function openAsFolder(parent: number, name: Name): Promise<number | null> {
  try {
    return await open(inside(parent, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (cause) {
    if (['ENOTDIR', 'ELOOP'].includes(codeOf(cause))) return null; // a file or a link: its name alone goes
    throw cause;
  }
}

/**
 * Empties what lies aside under `name` in the open folder `trash`. Flat: a subfolder is moved up into trash too, so
 * there is no recursion, no long path, and a crash in between is swept at the next start. Where a full disk has no room
 * for its name there, it is emptied where it is. Raced by somebody who writes in it, it never takes away anything
 * outside (design: disk).
 * @param fresh gives further names within trash
 */
export async function deleteTree(trash: number, name: Name, fresh: () => string): Promise<void> {
  const left: Name[] = [name];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const folder = await openAsFolder(trash, next);
    if (folder === null) {
      await unlink(inside(trash, next));
      continue;
    }
    try {
      for (const moved of await emptyFolder(folder, trash, fresh)) left.push(moved); // not all at once: a call takes some 100,000 parameters
    } finally {
      fs.closeSync(folder);
    }
    fs.rmdirSync(inside(trash, next));
  }
}

async function emptyFolder(folder: number, trash: number, fresh: () => string): Promise<string[]> {
  const moved: string[] = [];
  for (const entry of await fs.promises.readdir(at(folder), { encoding: 'buffer' })) {
    try {
      await unlink(inside(folder, entry));
    } catch (cause) {
      if (codeOf(cause) !== 'EISDIR') throw cause;
      const aside = await moveUp(folder, entry, trash, fresh);
      if (aside !== null) moved.push(aside);
    }
  }
  return moved;
}

/** @returns its name in trash; null: it is gone, since there was no room for its name */
async function moveUp(folder: number, entry: Uint8Array, trash: number, fresh: () => string): Promise<string | null> {
  const aside = fresh();
  try {
    fs.renameSync(inside(folder, entry), at(trash, aside));
    return aside;
  } catch (cause) {
    if (!foundNoRoom(cause)) throw cause;
    await deleteTree(folder, entry, fresh);
    return null;
  }
}
