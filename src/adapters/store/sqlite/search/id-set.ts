const pageBits = 16; // a page covers 2^16 ids
const wordsOfPage = 2 ** (pageBits - 5);

/** A set of ids: one bit for each, in pages that are created as needed. Must be fast: a search tests each record. */
export interface IdSet {
  has(id: number): boolean;
  add(id: number): void;
  delete(id: number): void;
  count(): number;
  /** Returns the memory that the set uses. */
  bytes(): number;
  /** Returns all ids, in the order in which their pages were created, and ascending within a page. */
  toArray(): number[];
}

const pageOf = (id: number) => Math.floor(id / 2 ** pageBits);
const wordOf = (id: number) => (id & (2 ** pageBits - 1)) >>> 5;

export function idSet(): IdSet {
  const pages = new Map<number, Uint32Array>();
  let size = 0;
  let [lastNumber, lastPage]: [number, Uint32Array | undefined] = [-1, undefined]; // consecutive lookups are mostly for nearby ids
  function page(number: number): Uint32Array | undefined {
    if (number !== lastNumber) [lastNumber, lastPage] = [number, pages.get(number)];
    return lastPage;
  }
  const has = (id: number) => ((page(pageOf(id))?.[wordOf(id)] ?? 0) & (1 << (id & 31))) !== 0;
  return {
    has,
    add(id) {
      if (has(id)) return;
      const words = page(pageOf(id)) ?? new Uint32Array(wordsOfPage);
      pages.set(pageOf(id), words);
      lastPage = words;
      words[wordOf(id)] = (words[wordOf(id)] ?? 0) | (1 << (id & 31));
      size += 1;
    },
    delete(id) {
      const words = page(pageOf(id));
      if (!words || !has(id)) return;
      words[wordOf(id)] = (words[wordOf(id)] ?? 0) & ~(1 << (id & 31));
      size -= 1;
    },
    count: () => size,
    bytes: () => pages.size * wordsOfPage * 4,
    toArray() {
      const ids: number[] = [];
      for (const [number, words] of pages)
        for (const [index, word] of words.entries())
          for (let bit = 0; bit < 32 && word >>> bit !== 0; bit += 1)
            if ((word & (1 << bit)) !== 0) ids.push(number * 2 ** pageBits + index * 32 + bit);
      return ids;
    },
  };
}
