import { isUtf8 } from 'node:buffer';
import fs from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { nameError } from '#core/item-path.ts';
import { type Entry, type ListingPage, type ListingQuery, PageTooDeep, pageOf } from '#core/listing.ts';
import { codeOf, failure, pageTooDeep } from './disk-errors.ts';
import { entryOf } from './entry.ts';
import { at } from './open-within-root.ts';

const batch = 1000;

/** To the thread: begin with an open folder's descriptor, go on, or stop; or one page of it. */
export interface ListThreadRequest {
  readonly number: number;
  readonly action: 'begin' | 'next' | 'stop' | 'page';
  readonly descriptor: number;
  readonly query?: ListingQuery;
}
/** From the thread; no entries: the end. */
export interface ListThreadResponse extends ListingPage {
  readonly number: number;
  readonly problem?: string;
}

const open = new Map<number, fs.Dir>();

/** Names that are not UTF-8, or that no address could name, are not listed. */
function nameOf(raw: Buffer): string | null {
  const name = raw.toString('utf8');
  return isUtf8(raw) && nameError(name) === null ? name : null;
}

function statOf(descriptor: number, name: string): Entry | null {
  try {
    return entryOf(name, fs.lstatSync(at(descriptor, name), { bigint: true }));
  } catch {
    return null; // gone since the folder was read
  }
}

/** Names of a folder and what they are; neither links nor devices. */
function* listed(directory: fs.Dir) {
  for (let found = directory.readSync(); found; found = directory.readSync()) {
    const name = found.isFile() || found.isDirectory() ? nameOf(Buffer.from(found.name)) : null;
    if (name !== null) yield { name, folder: found.isDirectory() };
  }
}

function nextBatch(directory: fs.Dir, descriptor: number): Entry[] {
  const entries: Entry[] = [];
  for (const { name } of listed(directory)) {
    const entry = statOf(descriptor, name);
    if (entry) entries.push(entry);
    if (entries.length === batch) break;
  }
  return entries;
}

const entriesOf = (descriptor: number, names: Iterable<{ readonly name: string }>) =>
  [...names].flatMap(({ name }) => statOf(descriptor, name) ?? []);

/** What a folder is sorted by. */
function* sortable(directory: fs.Dir, descriptor: number) {
  for (const { name } of listed(directory)) {
    const entry = statOf(descriptor, name);
    if (entry) yield { name, folder: entry.folder, size: entry.size, modified: entry.modified };
  }
}

/** Looking at a file costs ten times its name: by name, only those of the page are looked at. */
function page(directory: fs.Dir, descriptor: number, query: ListingQuery): ListingPage {
  const { entries: names, total } = pageOf(query.sort === 'name' ? listed(directory) : sortable(directory, descriptor), query);
  const entries = entriesOf(descriptor, names);
  return { entries, total: total - (names.length - entries.length) };
}

function stop(number: number): void {
  open.get(number)?.closeSync();
  open.delete(number);
}

function directoryOf({ number, action, descriptor }: ListThreadRequest): fs.Dir {
  // 'buffer' gives names as bytes; the types know only the text form.
  if (action !== 'next') open.set(number, fs.opendirSync(at(descriptor), { encoding: 'buffer' as BufferEncoding, bufferSize: batch }));
  const directory = open.get(number);
  // It was open in a thread that has ended. Without a word here the folder would seem to end.
  if (!directory) throw failure('EIO');
  return directory;
}

function answer(ask: ListThreadRequest): ListingPage {
  const directory = directoryOf(ask);
  const { number, descriptor, query } = ask;
  if (ask.action !== 'page' || !query) return { entries: nextBatch(directory, descriptor), total: 0 };
  const found = page(directory, descriptor, query);
  stop(number);
  return found;
}

parentPort?.on('message', (ask: ListThreadRequest) => {
  const { number } = ask;
  try {
    if (ask.action === 'stop') return stop(number);
    parentPort?.postMessage({ number, ...answer(ask) } satisfies ListThreadResponse);
  } catch (cause) {
    stop(number);
    const problem = cause instanceof PageTooDeep ? pageTooDeep : codeOf(cause) || 'unknown';
    parentPort?.postMessage({ number, entries: [], total: 0, problem } satisfies ListThreadResponse);
  }
});
