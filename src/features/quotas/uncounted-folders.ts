import { type ItemPath, joinPaths, parseSegments } from '#core/item-path.ts';

const maxBytes = 64 << 20;
const bytesPerUnit = 2; // of a UTF-16 code unit

/** There are more files and folders than the caller allows, or more names of folders than fit in memory. */
export class TooManyFiles extends Error {}

/** Memory for the names of folders that are still to be counted, which concurrent counts share. */
export interface CountMemory {
  usedBytes: number;
}

/** Names in a folder, joined by `/`: one text takes much less memory than a list of short ones. */
interface WaitingNames {
  readonly folder: ItemPath;
  readonly names: string;
}

/** The folders that a count must still list. `take` returns the last one first: only siblings of the folders on one path wait. */
export class UncountedFolders implements Disposable {
  readonly #memory: CountMemory;
  readonly #waiting: WaitingNames[] = [];
  #ownBytes = 0;

  constructor(memory: CountMemory) {
    this.#memory = memory;
  }

  /**
   * Adds subfolders. Ignores names that a path cannot contain.
   * @throws TooManyFiles if this count would hold more memory than is left for new names: one count cannot stop all others
   */
  add(folder: ItemPath, subfolders: readonly string[]): void {
    const names = subfolders.filter((name) => parseSegments([name])).join('/');
    if (names === '') return;
    this.#reserve(names.length * bytesPerUnit);
    if (this.#ownBytes > maxBytes - this.#memory.usedBytes) throw new TooManyFiles('there are too many folders to count');
    this.#waiting.push({ folder, names });
  }

  /** Removes the next folder and returns it; null: none is left. */
  take(): ItemPath | null {
    const last = this.#waiting.pop();
    if (!last) return null;
    const { folder, names } = last;
    const slash = names.lastIndexOf('/');
    if (slash > 0) this.#waiting.push({ folder, names: names.slice(0, slash) });
    this.#reserve((Math.max(slash, 0) - names.length) * bytesPerUnit);
    const name = parseSegments([names.slice(slash + 1)]);
    return name && joinPaths(folder, name);
  }

  /** Gives the memory back to the other counts. */
  [Symbol.dispose](): void {
    this.#reserve(-this.#ownBytes);
  }

  #reserve(bytes: number): void {
    this.#ownBytes += bytes;
    this.#memory.usedBytes += bytes;
  }
}
