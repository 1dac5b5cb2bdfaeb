import { setAndEvict } from '#core/bounded-map.ts';
import { type IdSet, idSet } from './id-set.ts';
import { type WordFinder, wordFinder } from './word-finder.ts';

const separator = '\0'; // occurs in no stored text and in no word
/** Limits of a chunk: a change of one record copies the text of its chunk. A very long text may exceed them. */
const chunkLimits = { records: 4000, bytes: 1 << 18 };
const bytesPerRecord = 3 * 8; // its id, its container, and the start of its text
const slowSearchSize = 20_000; // records; a search of more takes long
const maxCachedWords = 32; // in an index of more than `slowSearchSize` records; a smaller index caches only the last word

/** A record with its folded text. */
export interface TextRecord {
  readonly id: number;
  /** Id of the location that contains the record; 0 for a user. */
  readonly container: number;
  readonly text: string;
}

/** Consecutive records, in the order of their ids. */
interface Chunk {
  readonly ids: number[];
  readonly containers: number[];
  /** The start of each text. A text ends before its separator, which precedes the next text. */
  readonly starts: number[];
  /** All texts, one character for each UTF-8 byte: otherwise one letter not in Latin-1 doubles the memory. Words are searched by bytes. */
  text: string;
}

interface CachedSearch {
  readonly find: WordFinder;
  readonly within: ReadonlySet<number>;
  readonly ids: IdSet;
}

const toByteString = (text: string) => Buffer.from(text).toString('latin1');

/** Returns the memory that an index of texts needs. @param bytes length of all texts with their separators */
export const indexBytes = ({ records, bytes }: { readonly records: number; readonly bytes: number }) => bytes + records * bytesPerRecord;

function createChunk(records: readonly TextRecord[]): Chunk {
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
    text: toByteString(records.map(({ text }) => text + separator).join('')),
  };
}

/** Yields the records in chunks within the limits. */
function* createChunks(records: readonly TextRecord[]): Generator<Chunk> {
  let [begin, bytes] = [0, 0];
  for (const [index, { text }] of records.entries()) {
    const length = Buffer.byteLength(text) + 1;
    const isFull = index - begin === chunkLimits.records || bytes + length > chunkLimits.bytes;
    if (isFull && index > begin) {
      yield createChunk(records.slice(begin, index));
      [begin, bytes] = [index, 0];
    }
    bytes += length;
  }
  if (begin < records.length) yield createChunk(records.slice(begin));
}

/** Removes the second half of a chunk, measured in bytes, and returns it as a new chunk. */
function splitOffHalf(chunk: Chunk): Chunk {
  const { ids, containers, starts, text } = chunk;
  const index = Math.min(ids.length - 1, Math.max(1, lowerBound(starts, text.length / 2)));
  const begin = starts[index] ?? text.length;
  chunk.text = text.slice(0, begin);
  return {
    ids: ids.splice(index),
    containers: containers.splice(index),
    starts: starts.splice(index).map((start) => start - begin),
    text: text.slice(begin),
  };
}

/** Returns the first index, starting at `low`, whose value is at least `bound`. */
function lowerBound(values: readonly number[], bound: number, low = 0): number {
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Inserts a record in place of `replacedCount` records at an index; without a record, deletes them. @returns the growth in bytes */
function spliceRecord(chunk: Chunk, index: number, replacedCount: 0 | 1, record?: TextRecord): number {
  const { ids, containers, starts, text } = chunk;
  const begin = starts[index] ?? text.length;
  const end = starts[index + replacedCount] ?? text.length;
  const insertedText = record ? toByteString(record.text + separator) : '';
  chunk.text = text.slice(0, begin) + insertedText + text.slice(end);
  ids.splice(index, replacedCount, ...(record ? [record.id] : []));
  containers.splice(index, replacedCount, ...(record ? [record.container] : []));
  starts.splice(index, replacedCount, ...(record ? [begin] : []));
  const growth = insertedText.length - (end - begin);
  for (let later = index + (record ? 1 : 0); later < starts.length; later += 1) starts[later] = (starts[later] ?? 0) + growth;
  return growth;
}

/** Adds the ids of a chunk's matching records to `matches`. */
function searchChunk({ ids, containers, starts, text }: Chunk, find: WordFinder, within: ReadonlySet<number>, matches: IdSet): void {
  for (let position = find(text), next = 0; position !== -1; position = find(text, starts[next] ?? text.length)) {
    next = lowerBound(starts, position + 1, next);
    matches.add(ids[next - 1] ?? 0);
    if (next === starts.length) break;
  }
  if (within.size > 0) for (const [index, container] of containers.entries()) if (within.has(container)) matches.add(ids[index] ?? 0);
}

const isFull = ({ ids, text }: Chunk) => ids.length >= chunkLimits.records || text.length >= chunkLimits.bytes;

/**
 * The folded texts of one tenant's records, with thousands of them in one string. A search reads memory sequentially, so
 * it is fast for short words and in every script (docs/decisions/0003-search-in-memory.md).
 */
export class TextIndex {
  readonly #chunks: Chunk[] = [];
  readonly #firstIds: number[] = []; // the first id of each chunk, when it was created
  readonly #cache = new Map<string, CachedSearch>();
  #size = 0;
  #bytes = 0;

  /** Number of records. */
  get size(): number {
    return this.#size;
  }

  /** Memory that the index uses. */
  get bytes(): number {
    const cachedBytes = this.#cache.values().reduce((sum, { ids }) => sum + ids.bytes(), 0);
    return indexBytes({ records: this.#size, bytes: this.#bytes }) + cachedBytes;
  }

  /** Adds records in the order of their ids. All ids must be greater than the present ones. */
  append(records: readonly TextRecord[]): void {
    for (const chunk of createChunks(records)) {
      this.#insertChunk(chunk, this.#chunks.length);
      this.#bytes += chunk.text.length;
    }
    this.#size += records.length;
    for (const { find, within, ids } of this.#cache.values())
      for (const { id, container, text } of records) if (find(text) !== -1 || within.has(container)) ids.add(id);
  }

  /** Adds a record or replaces it. */
  set(record: TextRecord): void {
    this.#change(record.id, record);
  }

  remove(id: number): void {
    this.#change(id);
  }

  /** Returns the ids of the records that contain a word. @param within containers whose records all count as matches */
  find(word: string, within: readonly number[]): IdSet {
    const key = JSON.stringify([word, within]);
    const result = this.#cache.get(key) ?? this.#search(word, new Set(within));
    setAndEvict(this.#cache, key, result, this.#size > slowSearchSize ? maxCachedWords : 1);
    return result.ids;
  }

  #insertChunk(chunk: Chunk, index: number): void {
    this.#firstIds.splice(index, 0, chunk.ids[0] ?? 0);
    this.#chunks.splice(index, 0, chunk);
  }

  #change(id: number, record?: TextRecord): void {
    const chunkIndex = Math.max(0, lowerBound(this.#firstIds, id + 1) - 1);
    const chunk = this.#chunks[chunkIndex];
    const index = chunk ? lowerBound(chunk.ids, id) : 0;
    const replacedCount = chunk?.ids[index] === id ? 1 : 0;
    if (!record && replacedCount === 0) return;
    const isAfterAll = chunk === this.#chunks.at(-1) && index === chunk?.ids.length;
    if (record && replacedCount === 0 && (!chunk || (isAfterAll && isFull(chunk)))) this.append([record]);
    else if (chunk) {
      this.#replace(chunk, index, replacedCount, record);
      if (isFull(chunk) && chunk.ids.length > 1) this.#insertChunk(splitOffHalf(chunk), chunkIndex + 1);
    }
  }

  #replace(chunk: Chunk, index: number, replacedCount: 0 | 1, record?: TextRecord): void {
    const id = record?.id ?? chunk.ids[index] ?? 0;
    this.#bytes += spliceRecord(chunk, index, replacedCount, record);
    this.#size += (record ? 1 : 0) - replacedCount;
    for (const { find, within, ids } of this.#cache.values())
      if (record && (find(record.text) !== -1 || within.has(record.container))) ids.add(id);
      else ids.delete(id);
  }

  #search(word: string, within: ReadonlySet<number>): CachedSearch {
    const [ids, findBytes] = [idSet(), wordFinder(toByteString(word))];
    for (const chunk of this.#chunks) searchChunk(chunk, findBytes, within, ids);
    return { find: wordFinder(word), within, ids };
  }
}
