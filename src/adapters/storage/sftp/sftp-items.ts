import type { Stats } from 'ssh2';
import { computedEtag } from '#adapters/storage/computed-etag.ts';
import { deletionLimit } from '#adapters/storage/deletion-limit.ts';
import { suffixOfReplaced } from '#adapters/storage/moves/change-evidence.ts';
import type { ItemServer, MoveOptions, MoveOutcome, ServerEntry } from '#adapters/storage/moves/item-server.ts';
import { nameError } from '#core/item-path.ts';
import type { GroupMemory } from '#core/memory-budget.ts';
import { ChangeImpossible, ItemExists, ItemNotFound, StorageUnavailable, StorageUnusable } from '#ports/storage-errors.ts';
import { FolderRemoval } from './folder-removal.ts';
import { readSftpFolder } from './read-folder.ts';
import type { SftpConnections } from './sftp-connections.ts';
import { NoResponse, nullIfMissing, refusalCode, SftpRefusal, statusCodes } from './sftp-errors.ts';
import { openFileHandle } from './sftp-handle.ts';
import type { SftpSession } from './sftp-session.ts';

const maxListed = 1_000_000; // entries of one folder
const maxText = 1 << 16; // bytes
/**
 * How long the server may still work on a request, in ms. `move` is longer than the time limit of a request, since the network may deliver
 * the request late. `newFile` is shorter: a late request can move no other file, because its source has a name in the staging area that
 * only this change uses.
 */
const maxWorkTimes = { move: 120_000, newFile: () => 15_000 };

/** Returns an entry, or null for what is neither a file nor a folder. @param now ms since the epoch */
export function sftpEntryOf(name: string, stats: Stats, now: number): ServerEntry | null {
  if (stats.mtime === undefined) throw new StorageUnavailable('the server sent a file without a time');
  const modified = stats.mtime * 1000;
  if (stats.isDirectory()) return { name, folder: true, size: 0, modified, etag: 'W/"folder"' };
  if (!stats.isFile()) return null;
  const { size } = stats;
  return { name, folder: false, size, modified, etag: computedEtag(size, modified, now), isEmpty: size === 0 };
}

/** The library replaces invalid UTF-8 in a name with U+FFFD. No request can then name the item. */
const isAddressable = (name: string) => nameError(name) === null && !name.includes('\uFFFD');

/**
 * Replaces a file at a server that refuses to rename over an existing one. The old file is moved aside: if the new one is gone, for example
 * because the change was given up, the old one is moved back.
 */
async function replaceInSteps(session: SftpSession, source: string, target: string): Promise<void> {
  const aside = `${source}${suffixOfReplaced}`;
  await session.lstat(source); // refused if it is gone
  await session.rename(target, aside);
  try {
    await session.rename(source, target);
  } catch (cause) {
    if (cause instanceof SftpRefusal) await session.rename(aside, target);
    throw cause;
  }
  await nullIfMissing(session.removeFile(aside));
}

/** The files and folders of a location at an SFTP server. Symbolic links inside are not followed: for visitors, they do not exist. */
export class SftpItems implements ItemServer {
  readonly movesAtOnce = true;
  readonly isPart = async () => false;
  readonly maxWorkTimes = maxWorkTimes;
  readonly #connections: SftpConnections;
  readonly #root: string;
  readonly #now: () => number;
  readonly #memory: GroupMemory;
  readonly #limitRemoval = deletionLimit();

  /** @param root absolute path of the folder of the location @param now ms since the epoch @param memory for removals of folders */
  constructor(connections: SftpConnections, root: string, now: () => number, memory: GroupMemory) {
    this.#connections = connections;
    this.#root = root.replace(/\/+$/, '');
    this.#now = now;
    this.#memory = memory;
  }

  /** Returns the absolute path of an item at the server. */
  pathOf = (path: readonly string[]): string => [this.#root, ...path].join('/') || '/';

  async find(path: readonly string[]): Promise<ServerEntry | null> {
    return this.#connections.read(async (session) => {
      if (path.length === 0) {
        const stats = await nullIfMissing(session.stat(this.pathOf([])));
        return stats && sftpEntryOf('', stats, this.#now());
      }
      // The server would follow symbolic links, so each folder in the path is checked. The requests are sent at the same time.
      const requests = path.map((_, index) => nullIfMissing(session.lstat(this.pathOf(path.slice(0, index + 1)))));
      const results = await Promise.allSettled(requests);
      for (const [index, result] of results.entries()) {
        if (result.status === 'rejected') throw result.reason;
        const isLast = index === path.length - 1;
        if (!result.value || (!isLast && !result.value.isDirectory())) return null;
        if (isLast) return sftpEntryOf(path.at(-1) ?? '', result.value, this.#now());
      }
      return null;
    });
  }

  async *list(path: readonly string[]): AsyncGenerator<readonly ServerEntry[]> {
    let count = 0;
    for await (const batch of readSftpFolder(this.#connections, this.pathOf(path))) {
      count += batch.length;
      if (count > maxListed) throw new StorageUnavailable('the folder has too many files');
      // Yields empty batches, too: otherwise a caller could not stop the list of a server that sends only invalid entries.
      yield batch.flatMap(({ name, stats }) => (isAddressable(name) ? (sftpEntryOf(name, stats, this.#now()) ?? []) : []));
    }
  }

  async readText(path: readonly string[]): Promise<string | null> {
    const file = await openFileHandle(this.#connections, this.pathOf(path), 'r');
    if (!file) return null;
    try {
      return (await file.session.read(file.id, 0, maxText)).toString();
    } finally {
      await file.close();
    }
  }

  async writeText(path: readonly string[], text: string): Promise<boolean> {
    const file = await openFileHandle(this.#connections, this.pathOf(path), 'w');
    if (!file) return false;
    try {
      await file.session.write(file.id, 0, Buffer.from(text));
      await file.session.sync(file.id);
    } finally {
      await file.close();
    }
    return true;
  }

  async createFolder(path: readonly string[]): Promise<boolean> {
    return this.#connections.change(async (session) => {
      try {
        await session.makeFolder(this.pathOf(path));
        return true;
      } catch (cause) {
        if (refusalCode(cause) === statusCodes.noSuchFile) return false;
        if (refusalCode(cause) !== null && (await this.find(path))?.folder) return true;
        throw cause;
      }
    });
  }

  async createStagingFolder(path: readonly string[]): Promise<void> {
    try {
      if (!(await this.createFolder(path))) throw new StorageUnavailable('there is no such folder');
    } catch (cause) {
      if (refusalCode(cause) === null) throw cause;
      throw new StorageUnusable('the folder .postern cannot be created: the rights of the user do not allow it', { cause });
    }
  }

  async move(from: readonly string[], to: readonly string[], { isFolder, overwrites, confirm }: MoveOptions): Promise<MoveOutcome> {
    const existing = await this.find(to);
    if (existing && (!overwrites || existing.folder || isFolder)) return new ItemExists('the name is taken');
    return this.rename(from, to, { overwrites: existing !== null, confirm });
  }

  /** Renames an item without checking the new name. @throws the error of `confirm` */
  async rename(
    from: readonly string[],
    to: readonly string[],
    { overwrites, confirm }: Omit<MoveOptions, 'isFolder'>,
  ): Promise<MoveOutcome> {
    const [source, target] = [this.pathOf(from), this.pathOf(to)];
    let isConfirmed = confirm === undefined;
    try {
      await this.#connections.change(async (session) => {
        await confirm?.();
        isConfirmed = true;
        if (!overwrites) await session.rename(source, target);
        else if (!(await session.renameOver(source, target))) await replaceInSteps(session, source, target);
      });
      return 'moved';
    } catch (cause) {
      if (!isConfirmed && !(cause instanceof StorageUnavailable)) throw cause;
      if (!(cause instanceof SftpRefusal)) return cause instanceof NoResponse ? 'failed' : 'lost';
      return this.#refusalOf(cause, from, to);
    }
  }

  async delete(path: readonly string[]): Promise<void> {
    const isFolder = await this.#connections.change(async (session) => {
      const stats = await nullIfMissing(session.lstat(this.pathOf(path)));
      if (stats && !stats.isDirectory()) await nullIfMissing(session.removeFile(this.pathOf(path)));
      return stats?.isDirectory() ?? false;
    });
    if (isFolder) await this.#limitRemoval(() => this.#removeFolder(this.pathOf(path)));
  }

  async #removeFolder(path: string): Promise<void> {
    using memory = this.#memory.begin();
    await this.#connections.change((session) => new FolderRemoval(this.#connections, session, memory).run(path));
  }

  /** Returns the error of a refused rename. The protocol has one code for most errors, so the items at both names are checked. */
  async #refusalOf(cause: SftpRefusal, from: readonly string[], to: readonly string[]): Promise<Error> {
    if (!(await this.find(from))) return new ItemNotFound('the item no longer exists', { cause });
    if (await this.find(to)) return new ItemExists('the name is taken', { cause });
    if (cause.code === statusCodes.noSuchFile) return new ItemNotFound('the folder no longer exists', { cause });
    return new ChangeImpossible('The server refuses this change', { cause });
  }
}
