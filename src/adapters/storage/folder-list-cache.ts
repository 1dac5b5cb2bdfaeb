import { LRUCache } from 'lru-cache';
import type { Entry } from '#core/listing.ts';
import { memoryOfEntry } from '#core/page-selection.ts';

const maxBytes = 64 << 20; // of all lists
const lifetime = 30_000; // ms
const listCost = 1000; // bytes; counted for each list in addition to its entries

interface CachedList {
  readonly entries: readonly Entry[];
  /** ms, monotonic. */
  readonly cachedAt: number;
}

/** The sorted lists of entries that services have returned within the last half minute, so that a further page needs no request. */
export class FolderListCache {
  readonly #lists = new LRUCache<string, CachedList>({
    maxSize: maxBytes,
    sizeCalculation: ({ entries }) => entries.reduce((sum, entry) => sum + memoryOfEntry(entry), listCost),
    ttl: lifetime,
    ttlAutopurge: true,
  });
  readonly #now: () => number;
  #prefixCount = 0;

  /** @param now ms, monotonic */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Returns an unused prefix for the keys of lists. */
  newPrefix(): string {
    this.#prefixCount += 1;
    return `${this.#prefixCount} `;
  }

  get(key: string): readonly Entry[] | null {
    const list = this.#lists.get(key);
    return list && this.#now() - list.cachedAt < lifetime ? list.entries : null;
  }

  set(key: string, entries: readonly Entry[]): void {
    this.#lists.set(key, { entries, cachedAt: this.#now() });
  }
}
