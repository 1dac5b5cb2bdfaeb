import fs from 'node:fs';
import { promisify } from 'node:util';
import { at } from './beneath.ts';
import { codeOf } from './disk-errors.ts';

const open = promisify(fs.open);
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fs.constants;
const turn = 64; // names taken away before others get their turn

const inside = (folder: number, name: Uint8Array) => Buffer.concat([Buffer.from(`${at(folder)}/`), name]);

async function openAsFolder(trash: number, name: string): Promise<number | null> {
  try {
    return await open(at(trash, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (cause) {
    if (['ENOTDIR', 'ELOOP'].includes(codeOf(cause))) return null; // a file or a link: its name alone goes
    throw cause;
  }
}

/**
 * Empties what lies aside under `name` in the open folder `trash`. Flat: a subfolder is moved up into trash too, so
 * there is no recursion, no long path, and a crash in between is swept at the next start. Raced by somebody who writes
 * in it, it never takes away anything outside (design: disk).
 * @param fresh gives further names within trash
 */
export async function wipe(trash: number, name: string, fresh: () => string): Promise<void> {
  const left = [name];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const folder = await openAsFolder(trash, next);
    if (folder === null) {
      fs.unlinkSync(at(trash, next));
      continue;
    }
    try {
      left.push(...(await emptyFolder(folder, trash, fresh)));
    } finally {
      fs.closeSync(folder);
    }
    fs.rmdirSync(at(trash, next));
  }
}

async function emptyFolder(folder: number, trash: number, fresh: () => string): Promise<string[]> {
  const moved: string[] = [];
  const names = await fs.promises.readdir(at(folder), { encoding: 'buffer' });
  for (const [index, entry] of names.entries()) {
    if (index % turn === turn - 1) await new Promise(setImmediate);
    try {
      fs.unlinkSync(inside(folder, entry));
    } catch (cause) {
      if (codeOf(cause) !== 'EISDIR') throw cause;
      const aside = fresh();
      fs.renameSync(inside(folder, entry), at(trash, aside));
      moved.push(aside);
    }
  }
  return moved;
}
