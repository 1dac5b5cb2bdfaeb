import pLimit from 'p-limit';
import type { MemoryReservation } from '#core/memory-budget.ts';
import { ItemNotFound, StorageUnavailable } from '#ports/storage-errors.ts';
import { type FolderEntry, readSftpFolder } from './read-folder.ts';
import type { SftpConnections } from './sftp-connections.ts';
import { nullIfMissing, refusalCode } from './sftp-errors.ts';
import type { SftpSession } from './sftp-session.ts';

const filesAtOnce = 16;
const foldersAtOnce = 100; // names of folders that are kept at each level
const maxAttempts = 3; // attempts to remove a folder after its entries were removed
/**
 * Limits of one removal (`time` in ms): a hostile server could nest folders or list entries without end, or answer slowly. The sweep
 * removes the rest later. No common file system has names of more than 255 characters.
 */
const limits = { depth: 255, entries: 1_000_000, nameLength: 255, time: 600_000 };

/** Returns the memory that the names in a folder and its path take, in bytes. */
const memoryOf = (path: string, names: readonly string[]) => names.reduce((sum, name) => sum + 2 * name.length, 2 * path.length);

/** Folders within a folder. */
interface FoundFolders {
  readonly folders: readonly string[];
  /** false: the folder may contain further folders and files. */
  readonly isComplete: boolean;
}

/** Removes one folder with everything in it. All requests that remove something use one connection. */
export class FolderRemoval {
  readonly #connections: SftpConnections;
  readonly #session: SftpSession;
  readonly #memory: MemoryReservation;
  readonly #limit = pLimit(filesAtOnce);
  readonly #start: number; // monotonic time in ms
  #entryCount = 0;
  #bytes = 0; // memory of the names that are kept

  /** @param session for the requests that remove something @param memory for the names that are kept */
  constructor(connections: SftpConnections, session: SftpSession, memory: MemoryReservation) {
    this.#connections = connections;
    this.#session = session;
    this.#memory = memory;
    this.#start = connections.monotonic();
  }

  /** Removes a folder. A missing folder is no error. @param path absolute, at the server @throws StorageUnavailable, StorageBusy */
  async run(path: string, depth = 0): Promise<void> {
    if (depth > limits.depth) throw new StorageUnavailable(`folders are nested more than ${limits.depth} levels deep`);
    for (let attempt = 1; ; ) {
      this.#checkTime();
      const { folders, isComplete } = await this.#removeFilesIfPresent(path);
      await this.#removeFolders(path, folders, depth + 1);
      if (!isComplete) continue;
      try {
        return void (await nullIfMissing(this.#session.removeFolder(path)));
      } catch (cause) {
        // Some servers leave entries out of a list if others are removed meanwhile.
        if (refusalCode(cause) === null || attempt === maxAttempts) throw cause;
        attempt += 1;
      }
    }
  }

  async #removeFolders(path: string, names: readonly string[], depth: number): Promise<void> {
    const bytes = memoryOf(path, names);
    this.#takeMemory(bytes);
    for (const name of names) await this.run(`${path}/${name}`, depth);
    this.#takeMemory(-bytes); // after an error, the end of the task gives the memory back
  }

  /** Removes the files in a folder. No error if the folder is gone: another program may have removed it. @returns as `#removeFiles` */
  async #removeFilesIfPresent(path: string): Promise<FoundFolders> {
    try {
      return await this.#removeFiles(path);
    } catch (cause) {
      if (cause instanceof ItemNotFound) return { folders: [], isComplete: true };
      throw cause;
    }
  }

  /**
   * Removes the files in a folder, but stops after more than `foldersAtOnce` folders.
   * @returns the first folders in it
   * @throws ItemNotFound
   */
  async #removeFiles(path: string): Promise<FoundFolders> {
    const folders: string[] = [];
    for await (const batch of readSftpFolder(this.#connections, path)) {
      this.#count(batch);
      const files = batch.filter(({ stats }) => !stats.isDirectory());
      await Promise.all(files.map(({ name }) => this.#limit(() => this.#removeFile(`${path}/${name}`))));
      for (const { name, stats } of batch) if (stats.isDirectory()) folders.push(name);
      if (folders.length > foldersAtOnce) return { folders: folders.slice(0, foldersAtOnce), isComplete: false };
    }
    return { folders, isComplete: true };
  }

  async #removeFile(path: string): Promise<void> {
    this.#checkTime();
    await nullIfMissing(this.#session.removeFile(path));
  }

  #takeMemory(bytes: number): void {
    this.#bytes += bytes;
    this.#memory.set(this.#bytes);
  }

  /** @throws StorageUnavailable if the removal takes too long */
  #checkTime(): void {
    if (this.#connections.monotonic() - this.#start > limits.time) throw new StorageUnavailable('the removal of a folder takes too long');
  }

  #count(batch: readonly FolderEntry[]): void {
    this.#checkTime();
    this.#entryCount += batch.length;
    if (this.#entryCount > limits.entries) throw new StorageUnavailable('the folder has too many files and folders to remove at once');
    if (batch.some(({ name }) => name.length > limits.nameLength || name.includes('/')))
      throw new StorageUnavailable('the server lists a name that no file can have');
  }
}
