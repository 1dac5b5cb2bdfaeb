import { setNewest } from '#core/newest.ts';
import { type IdSet, idSet } from './id-set.ts';
import { type WordFinder, wordFinder } from './word-finder.ts';

const separator = '\0'; // no stored text and no word holds one
/** What a chunk holds at most: a change of one record copies its text. A longer text is a chunk of its own. */
const chunkHolds = { records: 4000, bytes: 1 << 18 };
const bytesOfRecord = 3 * 8; // its id, its container, and where its text begins
const aWhile = 20_000; // records: looking through more of them takes so long
const mostWords = 32; // whose matches are kept where it does

/** A record with its folded text. */
export interface TextRecord {
  readonly id: number;
  /** What it lies in. */
  readonly container: number;
  readonly text: string;
}

/**
 * The folded texts of one tenant's records, thousands of them in one string: a word, however short and in whatever
 * script, is found at the speed of memory (design: measured, "Alternative measured").
 */
export interface TextIndex {
  /** Adds records whose ids come behind all others, in order. */
  append(records: readonly TextRecord[]): void;
  /** Adds a record, or gives it another text. */
  set(record: TextRecord): void;
  remove(id: number): void;
  /** The records that hold a word. @param within containers of which every record counts as holding it */
  find(word: string, within: readonly number[]): IdSet;
  /** How many records there are. */
  size(): number;
  /** Memory that it takes. */
  bytes(): number;
}

/** Neighbours, in the order of their ids. */
interface Chunk {
  readonly ids: number[];
  readonly containers: number[];
  /** Where each text begins; it ends before the next one's separator. */
  readonly starts: number[];
  /** One character for each byte of UTF-8: half the memory, and a search by bytes. */
  text: string;
}

interface Kept {
  readonly find: WordFinder;
  readonly within: ReadonlySet<number>;
  readonly ids: IdSet;
}

const bytesIn = (text: string) => Buffer.from(text).toString('latin1');

/** Memory that an index of so much text takes. */
export const spaceFor = ({ records, bytes }: { readonly records: number; readonly bytes: number }) => bytes + records * bytesOfRecord;

function chunkOf(records: readonly TextRecord[]): Chunk {
  const starts: number[] = [];
  let end = 0;
  for (const { text } of records) {
    starts.push(end);
    end += Buffer.byteLength(text) + 1;
  }
  return {
    ids: records.map(({ id }) => id),
    containers: records.map(({ container }) => container),
    starts,
    text: bytesIn(records.map(({ text }) => text + separator).join('')),
  };
}

/** Records in chunks that hold no more than they may. */
function* chunksOf(records: readonly TextRecord[]): Generator<Chunk> {
  let [begin, bytes] = [0, 0];
  for (const [place, { text }] of records.entries()) {
    const length = Buffer.byteLength(text) + 1;
    const isFull = place - begin === chunkHolds.records || bytes + length > chunkHolds.bytes;
    if (isFull && place > begin) {
      yield chunkOf(records.slice(begin, place));
      [begin, bytes] = [place, 0];
    }
    bytes += length;
  }
  if (begin < records.length) yield chunkOf(records.slice(begin));
}

/** Takes the second half out of a chunk, by its bytes. */
function halfOf(chunk: Chunk): Chunk {
  const { ids, containers, starts, text } = chunk;
  const place = Math.min(ids.length - 1, Math.max(1, placeOf(starts, text.length / 2)));
  const begin = starts[place] ?? text.length;
  chunk.text = text.slice(0, begin);
  return {
    ids: ids.splice(place),
    containers: containers.splice(place),
    starts: starts.splice(place).map((start) => start - begin),
    text: text.slice(begin),
  };
}

/** The first place from `low` on whose value is at least `wanted`. */
function placeOf(values: readonly number[], wanted: number, low = 0): number {
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Puts a text in the place of `replaced` records; without one they go. @returns how many bytes longer the chunk is */
function splice(chunk: Chunk, place: number, replaced: 0 | 1, record?: TextRecord): number {
  const { ids, containers, starts, text } = chunk;
  const begin = starts[place] ?? text.length;
  const end = starts[place + replaced] ?? text.length;
  const put = record ? bytesIn(record.text + separator) : '';
  chunk.text = text.slice(0, begin) + put + text.slice(end);
  ids.splice(place, replaced, ...(record ? [record.id] : []));
  containers.splice(place, replaced, ...(record ? [record.container] : []));
  starts.splice(place, replaced, ...(record ? [begin] : []));
  const moved = put.length - (end - begin);
  for (let after = place + (record ? 1 : 0); after < starts.length; after += 1) starts[after] = (starts[after] ?? 0) + moved;
  return moved;
}

/** Adds the ids of a chunk's records that hold the word. */
function scan({ ids, containers, starts, text }: Chunk, find: WordFinder, within: ReadonlySet<number>, found: IdSet): void {
  for (let at = find(text), place = 0; at !== -1; at = find(text, starts[place] ?? text.length)) {
    place = placeOf(starts, at + 1, place);
    found.add(ids[place - 1] ?? 0);
    if (place === starts.length) break;
  }
  if (within.size > 0) for (const [place, container] of containers.entries()) if (within.has(container)) found.add(ids[place] ?? 0);
}

export function textIndex(): TextIndex {
  const chunks: Chunk[] = [];
  const firsts: number[] = []; // the first id of each chunk, when it was made
  const kept = new Map<string, Kept>();
  let [size, bytes] = [0, 0];

  const numberFor = (id: number) => Math.max(0, placeOf(firsts, id + 1) - 1);
  const add = (chunk: Chunk, number = chunks.length) => {
    firsts.splice(number, 0, chunk.ids[0] ?? 0);
    chunks.splice(number, 0, chunk);
  };
  const isFull = ({ ids, text }: Chunk) => ids.length >= chunkHolds.records || text.length >= chunkHolds.bytes;

  function change(id: number, record?: TextRecord): void {
    const number = numberFor(id);
    const chunk = chunks[number];
    const place = chunk ? placeOf(chunk.ids, id) : 0;
    const replaced = chunk?.ids[place] === id ? 1 : 0;
    if (!record && replaced === 0) return;
    const isBehindAll = chunk === chunks.at(-1) && place === chunk?.ids.length;
    if (record && replaced === 0 && (!chunk || (isBehindAll && isFull(chunk)))) append([record]);
    else if (chunk) {
      replace(chunk, place, replaced, record);
      if (isFull(chunk) && chunk.ids.length > 1) add(halfOf(chunk), number + 1);
    }
  }

  function replace(chunk: Chunk, place: number, replaced: 0 | 1, record?: TextRecord): void {
    const id = record?.id ?? chunk.ids[place] ?? 0;
    bytes += splice(chunk, place, replaced, record);
    size += (record ? 1 : 0) - replaced;
    for (const { find, within, ids } of kept.values())
      if (record && (find(record.text) !== -1 || within.has(record.container))) ids.add(id);
      else ids.delete(id);
  }

  function append(records: readonly TextRecord[]): void {
    for (const chunk of chunksOf(records)) {
      add(chunk);
      bytes += chunk.text.length;
    }
    size += records.length;
    for (const { find, within, ids } of kept.values())
      for (const { id, container, text } of records) if (find(text) !== -1 || within.has(container)) ids.add(id);
  }

  function look(word: string, within: ReadonlySet<number>): Kept {
    const [ids, inBytes] = [idSet(), wordFinder(bytesIn(word))];
    for (const chunk of chunks) scan(chunk, inBytes, within, ids);
    return { find: wordFinder(word), within, ids };
  }

  return {
    append,
    set: (record) => change(record.id, record),
    remove: (id) => change(id),
    find(word, within) {
      const key = JSON.stringify([word, within]);
      const matches = kept.get(key) ?? look(word, new Set(within));
      setNewest(kept, key, matches, size > aWhile ? mostWords : 1);
      return matches.ids;
    },
    size: () => size,
    bytes() {
      const sets = [...kept.values()].reduce((sum, { ids }) => sum + ids.bytes(), 0);
      return spaceFor({ records: size, bytes }) + sets;
    },
  };
}
