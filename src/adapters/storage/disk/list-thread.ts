import fs from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { nameFault } from '#core/item-path.ts';
import { type Entry, type ListingPage, type ListingQuery, pageOf } from '#core/listing.ts';
import { at } from './beneath.ts';
import { entryOf } from './entry.ts';

const batch = 1000;

/** To the thread: begin with an open folder's descriptor, go on, or stop; or one page of it. */
export interface Ask {
  readonly number: number;
  readonly does: 'begin' | 'next' | 'stop' | 'page';
  readonly descriptor: number;
  readonly query?: ListingQuery;
}
/** From the thread; no entries: the end. */
export interface Told extends ListingPage {
  readonly number: number;
  readonly problem?: string;
}

const open = new Map<number, fs.Dir>();

/** Names that are not UTF-8, or that no address could name, are not listed. */
function nameOf(raw: Buffer): string | null {
  const name = raw.toString('utf8');
  return Buffer.compare(Buffer.from(name, 'utf8'), raw) === 0 && nameFault(name) === null ? name : null;
}

function statOf(descriptor: number, name: string): Entry | null {
  try {
    return entryOf(name, fs.lstatSync(at(descriptor, name), { bigint: true }));
  } catch {
    return null; // gone since the folder was read
  }
}

function nextBatch(directory: fs.Dir, descriptor: number): Entry[] {
  const entries: Entry[] = [];
  while (entries.length < batch) {
    const found = directory.readSync();
    if (!found) break;
    const name = nameOf(Buffer.from(found.name));
    const entry = name === null ? null : statOf(descriptor, name);
    if (entry) entries.push(entry);
  }
  return entries;
}

function* batches(directory: fs.Dir, descriptor: number): Generator<Entry[]> {
  for (let entries = nextBatch(directory, descriptor); entries.length > 0; entries = nextBatch(directory, descriptor)) yield entries;
}

function stop(number: number): void {
  open.get(number)?.closeSync();
  open.delete(number);
}

function answer({ number, does, descriptor, query }: Ask): ListingPage | null {
  // 'buffer' gives names as bytes; the types know only the text form.
  if (does === 'begin' || does === 'page')
    open.set(number, fs.opendirSync(at(descriptor), { encoding: 'buffer' as BufferEncoding, bufferSize: batch }));
  const directory = open.get(number);
  if (!directory) return null;
  if (does !== 'page' || !query) return { entries: nextBatch(directory, descriptor), total: 0 };
  const page = pageOf([...batches(directory, descriptor)].flat(), query);
  stop(number);
  return page;
}

parentPort?.on('message', (ask: Ask) => {
  const { number } = ask;
  try {
    if (ask.does === 'stop') return stop(number);
    const page = answer(ask) ?? { entries: [], total: 0 };
    parentPort?.postMessage({ number, ...page } satisfies Told);
  } catch (cause) {
    stop(number);
    const problem = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    parentPort?.postMessage({ number, entries: [], total: 0, problem } satisfies Told);
  }
});
