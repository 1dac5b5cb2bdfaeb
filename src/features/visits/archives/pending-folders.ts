import { type ItemPath, joinPaths, parseSegments, rootPath } from '#core/item-path.ts';
import type { NameMemory } from './name-memory.ts';

const minBufferSize = 1 << 10; // bytes, for the names of a folder's subfolders

/** A folder that is still to be listed: its path in the storage, its name in the archive, its depth below the first folder. */
export interface PendingFolder {
  readonly path: ItemPath;
  readonly prefix: string;
  readonly depth: number;
}

/** A folder that `next` has returned, and the names of its subfolders that are still to be returned, each followed by a NUL. */
interface Level {
  readonly folder: PendingFolder;
  names: Buffer;
  used: number;
  read: number;
}

/** Returns the path of an item from its folder and its name in the archive. */
export const archivedItemPath = (folder: ItemPath, name: string): ItemPath =>
  joinPaths(folder, parseSegments(name.replace(/\/$/, '').split('/')) ?? rootPath);

/** Folders that are still to be listed, the deepest first. Names are stored as bytes, because one folder may have a million subfolders. */
export interface PendingFolders {
  /** Removes and returns the next folder, or null if there is none. */
  next(): PendingFolder | null;
  /** Adds a subfolder of the folder that `next` returned last. @throws Refusal (503) if the names need too much memory */
  add(name: string): void;
  /** Must be called at the end, even after an error. */
  end(): void;
}

export function pendingFolders(root: PendingFolder, nameMemory: NameMemory): PendingFolders {
  const levels: Level[] = [];
  let totalBytes = 0;
  let hasStarted = false;
  function resize(level: Level, length: number): void {
    totalBytes += length - level.names.length;
    nameMemory.setBytes(totalBytes);
    const names = Buffer.allocUnsafeSlow(length);
    level.names.copy(names, 0, level.read, level.used);
    Object.assign(level, { names, used: level.used - level.read, read: 0 });
  }
  function pushLevel(folder: PendingFolder): PendingFolder {
    levels.push({ folder, names: Buffer.alloc(0), used: 0, read: 0 });
    return folder;
  }
  /** Returns the next subfolder of a level, or null if there is none. */
  function nextSubfolder(level: Level): PendingFolder | null {
    if (level.read === level.used) return null;
    const end = level.names.indexOf(0, level.read);
    const name = level.names.toString('utf8', level.read, end);
    level.read = end + 1;
    const { path, prefix, depth } = level.folder;
    return { path: archivedItemPath(path, name), prefix: `${prefix}${name}/`, depth: depth + 1 };
  }
  return {
    next() {
      if (!hasStarted) {
        hasStarted = true;
        return pushLevel(root);
      }
      for (let level = levels.at(-1); level; level = levels.at(-1)) {
        const folder = nextSubfolder(level);
        if (folder) return pushLevel(folder);
        resize(level, 0);
        levels.pop();
      }
      return null;
    },
    add(name) {
      const level = levels.at(-1);
      if (!level) throw new Error('add was called before next');
      const length = Buffer.byteLength(name) + 1;
      if (level.used + length > level.names.length) resize(level, Math.max(minBufferSize, length, 2 * level.names.length));
      level.used += level.names.write(`${name}\0`, level.used);
    },
    end: () => nameMemory.setBytes(0),
  };
}
