import fs from 'node:fs';
import type { ItemPath } from '#core/item-path.ts';
import { StorageAway } from '#ports/storage.ts';
import { at, openFolder, type Root } from './beneath.ts';
import { codeOf } from './disk-errors.ts';

/** A name in an open folder. */
export interface Spot {
  readonly folder: number;
  readonly name: string;
}

/** The path of a spot, which no link leads astray. */
export const where = ({ folder, name }: Spot) => at(folder, name);

/** What lies at a spot; undefined: nothing. */
export const lookAt = (spot: Spot) => fs.lstatSync(where(spot), { bigint: true, throwIfNoEntry: false });

/** The same spot under a further name. */
export const named = ({ folder, name }: Spot, ending: string): Spot => ({ folder, name: name + ending });

/** Takes the name of a file away, if there is one. */
export function dropName(spot: Spot): void {
  try {
    fs.unlinkSync(where(spot));
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause;
  }
}

/** The folder at the location's root where Postern keeps what is not to be seen. */
export const asideFolder = '.postern';
/** What a change puts beside its place, where it cannot lie in `.postern/`. */
export const besideName = (token: string) => `.postern-${token}`;

const notFolder = ['ENOTDIR', 'ELOOP'];
const refused = ['EACCES', 'EPERM', 'EROFS'];

/** Opens `.postern/`, made if it is not there. */
export async function openAside(root: Root): Promise<number> {
  try {
    fs.mkdirSync(at(root.descriptor, asideFolder), 0o700);
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause;
  }
  return openFolder(root, [asideFolder]).catch((cause: unknown) => {
    if (!notFolder.includes(codeOf(cause))) throw cause;
    throw new StorageAway(`${asideFolder} in the location's folder is not a folder`, { cause });
  });
}

/**
 * Where a change keeps what is named by its token: in `.postern/`, or in the folder that it changes where that is on
 * another file system, or where nothing may be written at the root. The folder of the spot is to be closed.
 */
export async function asideSpot(root: Root, parent: ItemPath, token: string): Promise<Spot> {
  const folder = await openFolder(root, parent);
  const beside = { folder, name: besideName(token) };
  if (fs.fstatSync(folder).dev !== fs.fstatSync(root.descriptor).dev) return beside;
  try {
    const aside = await openAside(root);
    fs.closeSync(folder);
    return { folder: aside, name: token };
  } catch (cause) {
    if (refused.includes(codeOf(cause))) return beside;
    fs.closeSync(folder);
    throw cause;
  }
}

/** Runs `work` on the spot of a token, and closes its folder. */
export async function atAsideSpot<T>(root: Root, parent: ItemPath, token: string, work: (spot: Spot) => Promise<T> | T): Promise<T> {
  const spot = await asideSpot(root, parent, token);
  try {
    return await work(spot);
  } finally {
    fs.closeSync(spot.folder);
  }
}
