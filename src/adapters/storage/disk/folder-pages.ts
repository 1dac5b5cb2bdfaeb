import { LRUCache } from 'lru-cache';
import type { ItemPath } from '#core/item-path.ts';
import type { ListingPage, ListingQuery } from '#core/listing.ts';
import type { FolderThreads } from './folder-threads.ts';

/** ms for which a page is used again. Other programs can write into a file without a change of its folder, so it must be short. */
const lifetime = 1000;
const maxEntries = 50_000; // of all pages in the cache; an entry and its JSON need some 500 bytes
const pageCost = 10; // entries; for an empty page

/** A page, and the version of its folder before it was read. */
interface CachedPage {
  readonly page: ListingPage;
  readonly version: string;
}

/** The pages of all folders that were read within the last second. */
export type PageCache = LRUCache<string, CachedPage>;

/** @param now ms of a monotonic clock */
export const pageCache = (now: () => number = () => performance.now()): PageCache =>
  new LRUCache<string, CachedPage>({
    ...{ maxSize: maxEntries, sizeCalculation: ({ page }) => page.entries.length + pageCost },
    ...{ ttl: lifetime, ttlResolution: 0, ttlAutopurge: true, perf: { now } },
  });

let folderCount = 0;

/**
 * Reads pages of the folders of a location. If a folder has not changed since a page was read, and that was less than a second ago, the same
 * page is returned. So changes of entries through Postern are visible at once, and those of other programs within a second.
 */
export class FolderPages {
  readonly #pages: FolderThreads['pages'];
  readonly #cache: PageCache;
  readonly #now: () => number;
  readonly #folder: number;
  #changes = 0;

  /** @param now ms of the clock of the cache */
  constructor({ pages }: Pick<FolderThreads, 'pages'>, cache: PageCache, now: () => number = () => performance.now()) {
    folderCount += 1;
    this.#folder = folderCount;
    this.#pages = pages;
    this.#cache = cache;
    this.#now = now;
  }

  /** @throws ItemNotFound if there is no folder */
  async read(path: ItemPath, query: ListingQuery): Promise<ListingPage> {
    const key = JSON.stringify([this.#folder, this.#changes, path, query]);
    const start = this.#now();
    const cached = this.#cache.get(key);
    const { page, version } = await this.#pages.run('readPage', [path, query, cached?.version ?? null], { onLateResult: () => {} });
    if (cached && !page) return cached.page;
    if (!page) throw new Error('the page was not read'); // cannot happen: only a known version can be unchanged
    if (version !== null) this.#cache.set(key, { page, version }, { start });
    return page;
  }

  /** Called after each change in the location: some file systems do not change the time of a folder. */
  clear(): void {
    this.#changes += 1;
  }
}
