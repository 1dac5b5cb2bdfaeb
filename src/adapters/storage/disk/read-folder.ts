import { isUtf8 } from 'node:buffer';
import fs from 'node:fs';
import { nameError } from '#core/item-path.ts';
import type { Entry, ListingPage, ListingQuery } from '#core/listing.ts';
import { selectListingPage } from '#core/page-selection.ts';
import { errorWithCode, isAbsentError } from './disk-errors.ts';
import { diskEntryOf } from './entry.ts';
import { descriptorPath, openFolder, type StorageRoot, withFolder } from './open-within-root.ts';

const batchSize = 1000;
const stableAfter = 1000; // ms; no shorter than a step of the clock of any file system, except that of FAT

/** Returns the name, or null if the entry must not be listed: its name is not UTF-8, or no path may contain it (`nameError`). */
function nameOf(raw: Buffer): string | null {
  const name = raw.toString('utf8');
  return isUtf8(raw) && nameError(name) === null ? name : null;
}

function statOf(descriptor: number, name: string): Entry | null {
  try {
    return diskEntryOf(name, fs.lstatSync(descriptorPath(descriptor, name), { bigint: true }));
  } catch (cause) {
    if (isAbsentError(cause)) return null; // deleted since the folder was read
    throw cause; // without an error, the file would seem not to exist
  }
}

/** Yields the names of files and folders, but not of symbolic links and devices. */
function* readNames(directory: fs.Dir) {
  for (let dirent = directory.readSync(); dirent; dirent = directory.readSync()) {
    const name = dirent.isFile() || dirent.isDirectory() ? nameOf(Buffer.from(dirent.name)) : null;
    if (name !== null) yield { name, folder: dirent.isDirectory() };
  }
}

function nextBatch(directory: fs.Dir, descriptor: number): Entry[] {
  const entries: Entry[] = [];
  for (const { name } of readNames(directory)) {
    const entry = statOf(descriptor, name);
    if (entry) entries.push(entry);
    if (entries.length === batchSize) break;
  }
  return entries;
}

const entriesOf = (descriptor: number, names: Iterable<{ readonly name: string }>) =>
  [...names].flatMap(({ name }) => statOf(descriptor, name) ?? []);

/** Yields the fields by which a folder is sorted. */
function* readSortFields(directory: fs.Dir, descriptor: number) {
  for (const { name } of readNames(directory)) {
    const entry = statOf(descriptor, name);
    if (entry) yield { name, folder: entry.folder, size: entry.size, modified: entry.modified };
  }
}

/** Opens the list of names in a folder, as bytes. The cast is needed because the types of Node.js allow only text encodings here. */
export const openDirectory = (descriptor: number) =>
  fs.opendirSync(descriptorPath(descriptor), { encoding: 'buffer' as BufferEncoding, bufferSize: batchSize });

/**
 * Returns the version of an open folder; null: it has changed within the last second, so a further change might not change its times.
 */
function versionOf(descriptor: number): string | null {
  const { dev, ino, mtimeNs, ctimeNs, mtimeMs, ctimeMs } = fs.fstatSync(descriptor, { bigint: true });
  if (Math.max(Number(mtimeMs), Number(ctimeMs)) > Date.now() - stableAfter) return null;
  return `${dev} ${ino} ${mtimeNs} ${ctimeNs}`;
}

export interface PageRead {
  /** null: the folder still has the known version. */
  readonly page: ListingPage | null;
  /** Of the folder before the page was read; null: it cannot be compared. */
  readonly version: string | null;
}

/**
 * Reads a page. A stat takes ten times as long as reading a name. If the list is sorted by name, only the entries of the page need a stat.
 * @param knownVersion version of the folder when the caller last read the page, or null
 */
export function readPage(root: StorageRoot, path: readonly string[], query: ListingQuery, knownVersion: string | null): PageRead {
  return withFolder(root, path, (descriptor) => {
    const version = versionOf(descriptor);
    if (version !== null && version === knownVersion) return { page: null, version };
    const directory = openDirectory(descriptor);
    try {
      const { entries: names, total } = selectListingPage(
        query.sort === 'name' ? readNames(directory) : readSortFields(directory, descriptor),
        query,
      );
      const entries = entriesOf(descriptor, names);
      return { page: { entries, total: total - (names.length - entries.length) }, version };
    } finally {
      directory.closeSync();
    }
  });
}

/** The first entries of a folder. */
export interface OpenedList {
  readonly entries: readonly Entry[];
  /** Whether more entries may follow; if not, the folder is closed already. */
  readonly isOpen: boolean;
}

interface OpenList {
  readonly descriptor: number;
  readonly directory: fs.Dir;
}

/** The folders that are being listed in batches. A folder is read in the thread that opened it. */
export class OpenLists {
  readonly #lists = new Map<number, OpenList>();

  /** Opens a folder and reads its first entries: most folders need no call of `next`. @param number identifies the list */
  open(root: StorageRoot, path: readonly string[], number: number): OpenedList {
    const descriptor = openFolder(root, path);
    try {
      this.#lists.set(number, { descriptor, directory: openDirectory(descriptor) });
    } catch (cause) {
      fs.closeSync(descriptor);
      throw cause;
    }
    let isOpen = false;
    try {
      const entries = this.next(number);
      isOpen = entries.length === batchSize;
      return { entries, isOpen };
    } finally {
      if (!isOpen) this.close(number);
    }
  }

  /** Returns the next entries, none at the end. @throws EIO if the folder was opened in a thread that has ended */
  next(number: number): Entry[] {
    const list = this.#lists.get(number);
    if (!list) throw errorWithCode('EIO'); // without an error the list would seem complete
    return nextBatch(list.directory, list.descriptor);
  }

  close(number: number): void {
    const list = this.#lists.get(number);
    if (!list) return;
    this.#lists.delete(number);
    list.directory.closeSync();
    fs.closeSync(list.descriptor);
  }
}
