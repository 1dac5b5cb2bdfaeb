import { isUtf8 } from 'node:buffer';
import fs from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { nameError } from '#core/item-path.ts';
import { type Entry, type ListingPage, type ListingQuery, PageTooDeep, selectListingPage } from '#core/listing.ts';
import { errorWithCode, pageTooDeepCode, systemErrorCode } from './disk-errors.ts';
import { entryOf } from './entry.ts';
import { descriptorPath } from './open-within-root.ts';

const batchSize = 1000;

/** Sent to the thread, with the descriptor of an open folder: begin a list, return its next batch, or stop it; or return one page. */
export interface ListThreadRequest {
  readonly number: number;
  readonly action: 'begin' | 'next' | 'stop' | 'page';
  readonly descriptor: number;
  readonly query?: ListingQuery;
}
/** Sent by the thread. An empty batch is the end of the list. */
export interface ListThreadResponse extends ListingPage {
  readonly number: number;
  readonly problem?: string;
}

const directories = new Map<number, fs.Dir>();

/** Returns the name, or null if it is not listed: it is not UTF-8, or no URL can contain it. */
function nameOf(raw: Buffer): string | null {
  const name = raw.toString('utf8');
  return isUtf8(raw) && nameError(name) === null ? name : null;
}

function statOf(descriptor: number, name: string): Entry | null {
  try {
    return entryOf(name, fs.lstatSync(descriptorPath(descriptor, name), { bigint: true }));
  } catch {
    return null; // deleted since the folder was read
  }
}

/** Yields the names of files and folders, but not of links and devices. */
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

/** Reads one page. A stat costs ten times as much as a name: if sorted by name, only the entries of the page need one. */
function readPage(directory: fs.Dir, descriptor: number, query: ListingQuery): ListingPage {
  const { entries: names, total } = selectListingPage(
    query.sort === 'name' ? readNames(directory) : readSortFields(directory, descriptor),
    query,
  );
  const entries = entriesOf(descriptor, names);
  return { entries, total: total - (names.length - entries.length) };
}

function closeDirectory(number: number): void {
  directories.get(number)?.closeSync();
  directories.delete(number);
}

function directoryOf({ number, action, descriptor }: ListThreadRequest): fs.Dir {
  // 'buffer' returns names as bytes. The types of Node.js allow only text encodings here.
  if (action !== 'next')
    directories.set(number, fs.opendirSync(descriptorPath(descriptor), { encoding: 'buffer' as BufferEncoding, bufferSize: batchSize }));
  const directory = directories.get(number);
  // The directory was open in a thread that has ended. Without an error the list would seem complete.
  if (!directory) throw errorWithCode('EIO');
  return directory;
}

function respond(request: ListThreadRequest): ListingPage {
  const directory = directoryOf(request);
  const { number, descriptor, query } = request;
  if (request.action !== 'page' || !query) return { entries: nextBatch(directory, descriptor), total: 0 };
  const page = readPage(directory, descriptor, query);
  closeDirectory(number);
  return page;
}

parentPort?.on('message', (request: ListThreadRequest) => {
  const { number } = request;
  try {
    if (request.action === 'stop') return closeDirectory(number);
    parentPort?.postMessage({ number, ...respond(request) } satisfies ListThreadResponse);
  } catch (cause) {
    closeDirectory(number);
    const problem = cause instanceof PageTooDeep ? pageTooDeepCode : systemErrorCode(cause) || 'unknown';
    parentPort?.postMessage({ number, entries: [], total: 0, problem } satisfies ListThreadResponse);
  }
});
