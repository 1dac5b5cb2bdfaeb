import fs from 'node:fs';
import { isDiskFullError } from '#adapters/os/disk-probe.ts';
import { isImpossibleError, systemErrorCode } from './disk-errors.ts';
import { descriptorPath } from './open-within-root.ts';
import { openDirectory } from './read-folder.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fs.constants;

const batchSize = 10_000; // names: those of a folder with millions of entries do not fit into the memory of a thread

type Name = string | Uint8Array;
const pathIn = (folder: number, name: Name) => Buffer.concat([Buffer.from(`${descriptorPath(folder)}/`), Buffer.from(name)]);

function openAsFolder(parent: number, name: Name): number | null {
  try {
    return fs.openSync(pathIn(parent, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (cause) {
    if (['ENOTDIR', 'ELOOP'].includes(systemErrorCode(cause))) return null; // a file or a link: the caller unlinks it
    throw cause;
  }
}

/** Runs deletions. If one of them is not permitted, the others follow nevertheless. */
class Deletions {
  #refusedCount = 0;
  #firstRefusal: unknown = null;

  get refusedCount(): number {
    return this.#refusedCount;
  }

  /** @returns null if the deletion is not permitted */
  attempt<T>(deletion: () => T): T | null {
    try {
      return deletion();
    } catch (cause) {
      if (!isImpossibleError(cause)) throw cause;
      this.#firstRefusal ??= cause;
      this.#refusedCount += 1;
      return null;
    }
  }

  /** @throws the error of the first deletion that was not permitted */
  end(): void {
    if (this.#refusedCount > 0) throw this.#firstRefusal;
  }
}

/**
 * Deletes the entry `name` of the open folder `trash`, with everything in it. Deletes nothing outside, even if another process changes the
 * tree meanwhile. Subfolders are first moved up into `trash`: this avoids recursion and long paths. If a full disk has no space for the new
 * name, the subfolder is deleted where it is. After an error or a crash, recovery or the next sweep deletes the rest.
 * @param randomName returns a new name for a subfolder in `trash`
 * @throws EACCES, EPERM, EROFS or EXDEV for an entry that may not be removed. Entries after the first batch of its folder may stay too
 */
export function deleteTree(trash: number, name: Name, randomName: () => string): void {
  const deletions = new Deletions();
  const remaining: Name[] = [name];
  for (let next = remaining.pop(); next !== undefined; next = remaining.pop()) {
    const current = next;
    const before = deletions.refusedCount;
    const found = deletions.attempt(() => ({ folder: openAsFolder(trash, current) }));
    if (found === null) continue;
    const { folder } = found;
    if (folder === null) {
      deletions.attempt(() => fs.unlinkSync(pathIn(trash, current)));
      continue;
    }
    let names: readonly Name[];
    let movedNames: readonly Name[];
    try {
      names = firstNames(folder);
      movedNames = removeEntries(folder, names, trash, randomName, deletions);
    } finally {
      fs.closeSync(folder);
    }
    if (deletions.refusedCount === before) {
      if (names.length < batchSize) deletions.attempt(() => fs.rmdirSync(pathIn(trash, current)));
      else remaining.push(current); // the other entries of this folder follow after its subfolders
    }
    remaining.push(...movedNames);
  }
  deletions.end();
}

/** Returns the first names in a folder, as bytes. */
function firstNames(folder: number): readonly Name[] {
  const names: Name[] = [];
  using directory = openDirectory(folder);
  for (let entry = directory.readSync(); entry && names.length < batchSize; entry = directory.readSync()) names.push(entry.name);
  return names;
}

/** Deletes files of a folder, and moves subfolders to `trash`. @returns the new names of the subfolders in `trash` */
function removeEntries(
  folder: number,
  names: readonly Name[],
  trash: number,
  randomName: () => string,
  deletions: Deletions,
): readonly Name[] {
  const movedNames: string[] = [];
  for (const entry of names) {
    const movedName = deletions.attempt(() => removeOrMove(folder, entry, trash, randomName));
    if (movedName !== null) movedNames.push(movedName);
  }
  return movedNames;
}

/** Deletes a file, or moves a subfolder to `trash`. @returns the new name of the subfolder; null if the entry was deleted */
function removeOrMove(folder: number, entry: Name, trash: number, randomName: () => string): string | null {
  try {
    fs.unlinkSync(pathIn(folder, entry));
    return null;
  } catch (cause) {
    if (systemErrorCode(cause) !== 'EISDIR') throw cause;
    return moveUp(folder, entry, trash, randomName);
  }
}

/** Moves a subfolder to `trash`. @returns its new name; null if the disk had no space for the name and the subfolder was deleted */
function moveUp(folder: number, entry: Name, trash: number, randomName: () => string): string | null {
  const newName = randomName();
  try {
    fs.renameSync(pathIn(folder, entry), descriptorPath(trash, newName));
    return newName;
  } catch (cause) {
    if (!isDiskFullError(cause)) throw cause;
    deleteTree(folder, entry, randomName);
    return null;
  }
}
