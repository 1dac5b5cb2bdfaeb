import pLimit from 'p-limit';
import { ItemNotFound, StorageUnavailable } from '#ports/storage-errors.ts';
import { type FolderEntry, readSftpFolder } from './read-folder.ts';
import type { SftpConnections } from './sftp-connections.ts';
import { nullIfMissing, refusalCode } from './sftp-errors.ts';
import type { SftpSession } from './sftp-session.ts';

const filesAtOnce = 16;
const foldersAtOnce = 100; // names that are kept at each level
const maxAttempts = 3; // to remove a folder after its entries
/** Limits of one removal: a hostile server could nest folders, and list entries, without end. */
const limits = { depth: 255, entries: 1_000_000, nameLength: 1024 };

/** Folders within a folder. */
interface FoundFolders {
  readonly folders: readonly string[];
  /** Whether these are all. */
  readonly isComplete: boolean;
}

/** Removes one folder with everything in it. All requests that remove something use one connection. */
export class FolderRemoval {
  readonly #connections: SftpConnections;
  readonly #session: SftpSession;
  readonly #limit = pLimit(filesAtOnce);
  #entryCount = 0;

  /** @param session for the requests that remove something */
  constructor(connections: SftpConnections, session: SftpSession) {
    this.#connections = connections;
    this.#session = session;
  }

  /** Removes a folder. A missing folder is no error. @param path absolute, at the server @throws StorageUnavailable */
  async run(path: string, depth = 0): Promise<void> {
    if (depth > limits.depth) throw new StorageUnavailable(`folders are nested more than ${limits.depth} levels deep`);
    for (let attempt = 1; ; ) {
      const { folders, isComplete } = await this.#removeFilesIfPresent(path);
      for (const name of folders) await this.run(`${path}/${name}`, depth + 1);
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

  /** Removes the files in a folder. No error if the folder is gone: another program may have removed it. @returns as `#removeFiles` */
  async #removeFilesIfPresent(path: string): Promise<FoundFolders> {
    try {
      return await this.#removeFiles(path);
    } catch (cause) {
      if (cause instanceof ItemNotFound) return { folders: [], isComplete: true };
      throw cause;
    }
  }

  /** Removes the files in a folder. @returns the first folders in it, and whether these are all @throws ItemNotFound */
  async #removeFiles(path: string): Promise<FoundFolders> {
    const folders: string[] = [];
    for await (const batch of readSftpFolder(this.#connections, path)) {
      this.#count(batch);
      const files = batch.filter(({ stats }) => !stats.isDirectory());
      await Promise.all(files.map(({ name }) => this.#limit(() => nullIfMissing(this.#session.removeFile(`${path}/${name}`)))));
      for (const { name, stats } of batch) if (stats.isDirectory()) folders.push(name);
      if (folders.length > foldersAtOnce) return { folders: folders.slice(0, foldersAtOnce), isComplete: false };
    }
    return { folders, isComplete: true };
  }

  #count(batch: readonly FolderEntry[]): void {
    this.#entryCount += batch.length;
    if (this.#entryCount > limits.entries) throw new StorageUnavailable('the folder has too many files to remove them at once');
    if (batch.some(({ name }) => name.length > limits.nameLength || name.includes('/')))
      throw new StorageUnavailable('the server lists a name that no file can have');
  }
}
