import fs from 'node:fs';
import type { ItemPath } from '#core/item-path.ts';
import { StorageAway } from '#ports/storage.ts';
import { at, openFolder, type Root } from './beneath.ts';
import { codeOf, isAbsent } from './disk-errors.ts';

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

const openAsideFolder = (root: Root) =>
  openFolder(root, [asideFolder]).catch((cause: unknown) => {
    if (!notFolder.includes(codeOf(cause))) throw cause;
    throw new StorageAway(`${asideFolder} in the location's folder is not a folder`, { cause });
  });

/** Opens `.postern/`, made if it is not there. */
export async function openAside(root: Root): Promise<number> {
  try {
    fs.mkdirSync(at(root.descriptor, asideFolder), 0o700);
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause;
  }
  return openAsideFolder(root);
}

/** Is a folder on another file system than the root, or mounted from elsewhere within one? Nothing is moved or linked between them. */
function isMountedApart(folder: number, { descriptor }: Root): boolean {
  const mountOf = (of: number) => /^mnt_id:\s*(\d+)$/m.exec(fs.readFileSync(`/proc/self/fdinfo/${of}`, 'utf8'))?.[1];
  return fs.fstatSync(folder).dev !== fs.fstatSync(descriptor).dev || mountOf(folder) !== mountOf(descriptor);
}

/**
 * Where a change keeps what is named by its token: in `.postern/`, or in the folder that it changes where that is
 * mounted apart, or where nothing may be written at the root. The folder of the spot is to be closed.
 */
export async function asideSpot(root: Root, parent: ItemPath, token: string): Promise<Spot> {
  const folder = await openFolder(root, parent);
  const beside = { folder, name: besideName(token) };
  if (isMountedApart(folder, root)) return beside;
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

const nullIfGone = (cause: unknown) => {
  if (codeOf(cause) === 'ENOENT') return null;
  throw cause;
};

/** Where a change that is recovered kept it; makes nothing, and needs no parent. null: nowhere. */
async function leftSpot(root: Root, parent: ItemPath, token: string): Promise<Spot | null> {
  const folder = await openFolder(root, parent).catch((cause: unknown) => {
    if (isAbsent(cause)) return null;
    throw cause;
  });
  const beside = folder === null ? null : { folder, name: besideName(token) };
  if (folder !== null && isMountedApart(folder, root)) return beside;
  const aside = await openAsideFolder(root).catch(nullIfGone);
  if (aside === null) return beside;
  if (folder !== null) fs.closeSync(folder);
  return { folder: aside, name: token };
}

async function closing<T>(spot: Spot, work: (spot: Spot) => Promise<T> | T): Promise<T> {
  try {
    return await work(spot);
  } finally {
    fs.closeSync(spot.folder);
  }
}

/** Runs `work` on the spot of a token, and closes its folder. */
export const atAsideSpot = async <T>(root: Root, parent: ItemPath, token: string, work: (spot: Spot) => Promise<T> | T): Promise<T> =>
  closing(await asideSpot(root, parent, token), work);

/** The same for a change that is recovered; null where it left nothing. */
export async function atLeftSpot<T>(root: Root, parent: ItemPath, token: string, work: (spot: Spot) => Promise<T> | T): Promise<T | null> {
  const spot = await leftSpot(root, parent, token);
  return spot && closing(spot, work);
}
