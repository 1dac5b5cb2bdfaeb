import { type ItemPath, joinPaths, parseSegments, rootPath } from '#core/item-path.ts';
import type { NameMemory } from './name-memory.ts';

const smallest = 1 << 10; // bytes of the names of a folder's subfolders, to begin with

/** A folder that is still to be listed: its path in the storage, its name in the archive, its depth below the first. */
export interface PendingFolder {
  readonly path: ItemPath;
  readonly prefix: string;
  readonly depth: number;
}

/** A folder that was taken, and the names of its subfolders that were not, each followed by a NUL. */
interface Level {
  readonly folder: PendingFolder;
  names: Buffer;
  used: number;
  read: number;
}

/** Where something lies that was found below a folder under that name. */
export const below = (folder: ItemPath, name: string): ItemPath =>
  joinPaths(folder, parseSegments(name.replace(/\/$/, '').split('/')) ?? rootPath);

/** Folders that are still to be listed, the deepest first. Their names are kept as bytes: one folder may hold a million. */
export interface PendingFolders {
  /** Takes the next one; null: there is no more. */
  next(): PendingFolder | null;
  /** Adds a subfolder of the one that was taken last. @throws 503 where too many are kept already */
  add(name: string): void;
  /** To be called at the end, wherever that is. */
  end(): void;
}

export function pendingFolders(first: PendingFolder, memory: NameMemory): PendingFolders {
  const levels: Level[] = [];
  let bytes = 0;
  let begun = false;
  function resize(level: Level, length: number): void {
    bytes += length - level.names.length;
    memory.hold(bytes);
    const names = Buffer.allocUnsafeSlow(length);
    level.names.copy(names, 0, level.read, level.used);
    Object.assign(level, { names, used: level.used - level.read, read: 0 });
  }
  function taken(folder: PendingFolder): PendingFolder {
    levels.push({ folder, names: Buffer.alloc(0), used: 0, read: 0 });
    return folder;
  }
  /** The next subfolder of a level; null: it has no more. */
  function nextOf(level: Level): PendingFolder | null {
    if (level.read === level.used) return null;
    const end = level.names.indexOf(0, level.read);
    const name = level.names.toString('utf8', level.read, end);
    level.read = end + 1;
    const { path, prefix, depth } = level.folder;
    return { path: below(path, name), prefix: `${prefix}${name}/`, depth: depth + 1 };
  }
  return {
    next() {
      if (!begun) {
        begun = true;
        return taken(first);
      }
      for (let level = levels.at(-1); level; level = levels.at(-1)) {
        const folder = nextOf(level);
        if (folder) return taken(folder);
        resize(level, 0);
        levels.pop();
      }
      return null;
    },
    add(name) {
      const level = levels.at(-1);
      if (!level) throw new Error('no folder was taken');
      const length = Buffer.byteLength(name) + 1;
      if (level.used + length > level.names.length) resize(level, Math.max(smallest, length, 2 * level.names.length));
      level.used += level.names.write(`${name}\0`, level.used);
    },
    end: () => memory.hold(0),
  };
}
