import { type IdSet, idSet } from './id-set.ts';

const separator = '\0'; // no stored text and no word holds one
const mostWords = 32; // whose matches are kept, where looking for them again takes a while
const aWhile = 20_000; // records
const bytesOfRecord = 4 + 8 + 8; // where it begins, its id and its container
const slack = 1.06; // room for what comes, so that not each of it moves all

/**
 * The folded texts of one tenant's records, one behind the other in one buffer: a word, however short and in whatever
 * script, is found at the speed of memory (design: measured, "Alternative measured").
 */
export interface TextIndex {
  /** Adds a record, or gives it another text. */
  set(id: number, container: number, text: string): void;
  remove(id: number): void;
  /** The records that hold a word. @param within containers of which every record counts as holding it */
  find(word: string, within: readonly number[]): IdSet;
  /** How many records there are. */
  size(): number;
  /** Memory that it takes. */
  bytes(): number;
  /** Is so much of it gone, or out of its order, that it had better be made anew? */
  worn(): boolean;
}

/** How much text there is. */
interface Expected {
  readonly records: number;
  readonly bytes: number;
}

interface Kept {
  readonly word: string;
  readonly within: ReadonlySet<number>;
  readonly ids: IdSet;
}

const roomFor = (size: number) => Math.ceil(size * slack) + 1024;
/** Memory that an index of so much text takes; bytes. */
export const spaceFor = ({ records, bytes }: Expected) => roomFor(bytes) + roomFor(records) * bytesOfRecord;

/** @param expected records and bytes of text to make room for */
export function textIndex(expected: Expected): TextIndex {
  let buffer = Buffer.allocUnsafeSlow(roomFor(expected.bytes));
  let used = 0;
  let last = 0; // positions given out
  let starts = new Uint32Array(roomFor(expected.records)); // of each position; its text ends where the next begins
  let ids = new Float64Array(starts.length);
  let containers = new Float64Array(starts.length);
  const gone = idSet(); // positions
  /** Positions up to here are in the order of their ids; those behind are found by `later`. */
  let ordered = 0;
  const later = new Map<number, number>();
  const kept = new Map<string, Kept>();

  function grow(bytes: number): void {
    if (used + bytes > buffer.length) {
      const larger = Buffer.allocUnsafeSlow(roomFor(used + bytes));
      buffer.copy(larger, 0, 0, used);
      buffer = larger;
    }
    if (last + 1 < ids.length) return;
    const length = roomFor(ids.length);
    const larger = <A extends Uint32Array | Float64Array>(from: A, to: A): A => {
      to.set(from);
      return to;
    };
    starts = larger(starts, new Uint32Array(length));
    ids = larger(ids, new Float64Array(length));
    containers = larger(containers, new Float64Array(length));
  }

  const idAt = (position: number) => ids[position] ?? -1;
  const startOf = (position: number) => starts[position] ?? used;

  function positionOf(id: number): number | undefined {
    const found = later.get(id);
    if (found !== undefined) return found;
    let [low, high] = [0, ordered];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (idAt(middle) < id) low = middle + 1;
      else high = middle;
    }
    return low < ordered && idAt(low) === id && !gone.has(low) ? low : undefined;
  }

  function append(id: number, container: number, text: string): void {
    grow(Buffer.byteLength(text) + 1);
    const position = last;
    ids[position] = id;
    containers[position] = container;
    starts[position] = used;
    used += buffer.write(text + separator, used);
    last += 1;
    starts[last] = used;
    if (position === ordered && (position === 0 || idAt(position - 1) < id)) ordered += 1;
    else later.set(id, position);
  }

  function remove(id: number): void {
    const position = positionOf(id);
    if (position === undefined) return;
    gone.add(position);
    later.delete(id);
    for (const { ids: found } of kept.values()) found.delete(id);
  }

  /** The position whose text holds this byte, at or behind `from`. */
  function holding(byte: number, from: number): number {
    let step = 1;
    while (from + step < last && startOf(from + step) <= byte) step *= 2;
    let [low, high] = [from, Math.min(from + step, last)];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (startOf(middle) <= byte) low = middle;
      else high = middle;
    }
    return low;
  }

  function scan(word: string, within: ReadonlySet<number>): IdSet {
    const found = idSet();
    const [text, needle] = [buffer.subarray(0, used), Buffer.from(word)];
    for (let [byte, position] = [text.indexOf(needle), 0]; byte !== -1; byte = text.indexOf(needle, startOf(position + 1))) {
      position = holding(byte, position);
      if (!gone.has(position)) found.add(idAt(position));
    }
    if (within.size > 0)
      for (let position = 0; position < last; position += 1)
        if (within.has(containers[position] ?? -1) && !gone.has(position)) found.add(idAt(position));
    return found;
  }

  return {
    set(id, container, text) {
      remove(id);
      append(id, container, text);
      for (const { word, within, ids: found } of kept.values()) if (text.includes(word) || within.has(container)) found.add(id);
    },
    remove,
    find(word, within) {
      const key = JSON.stringify([word, within]);
      const known = kept.get(key);
      const places = new Set(within);
      const found = known?.ids ?? scan(word, places);
      kept.delete(key); // the newest stands last
      kept.set(key, { word, within: places, ids: found });
      const [oldest] = kept.keys();
      if (kept.size > (last > aWhile ? mostWords : 1) && oldest !== undefined) kept.delete(oldest);
      return found;
    },
    size: () => last - gone.count(),
    worn: () => gone.count() + later.size > 1000 + last / 4,
    bytes: () => buffer.length + starts.byteLength + ids.byteLength + containers.byteLength,
  };
}
