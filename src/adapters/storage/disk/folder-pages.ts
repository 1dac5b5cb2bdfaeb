import { LRUCache } from 'lru-cache';
import type { ItemPath } from '#core/item-path.ts';
import type { ListingPage, ListingQuery } from '#core/listing.ts';
import type { FolderThreads } from './folder-threads.ts';

/** ms for which a page is used again. Other programs can write into a file without a change of its folder, so this time must be short. */
const lifetime = 1000;
const maxEntries = 50_000; // of all pages in the cache; an entry and its JSON need some 500 bytes
const pageCost = 10; // entries; counted for each page in addition to its entries

/** A page, and the version that its folder had before the page was read. */
interface CachedPage {
  readonly page: ListingPage;
  readonly version: string;
  /** When the read began; ms, monotonic. */
  readonly readAt: number;
}

/** The pages that were read within the last second, of all locations. */
export class PageCache {
  readonly #pages = new LRUCache<string, CachedPage>({
    maxSize: maxEntries,
    sizeCalculation: ({ page }) => page.entries.length + pageCost,
    ttl: lifetime,
    ttlAutopurge: true,
  });
  #prefixCount = 0;

  /** Returns an unused prefix for the keys of pages. */
  newPrefix(): string {
    this.#prefixCount += 1;
    return `${this.#prefixCount} `;
  }

  get(key: string): CachedPage | undefined {
    return this.#pages.get(key);
  }

  set(key: string, page: CachedPage): void {
    this.#pages.set(key, page);
  }
}

/**
 * Reads pages of the folders of a location. If a page was read less than a second ago, and its folder has not changed since, the same
 * page is returned. So new, deleted and replaced entries are visible at once, and other changes by other programs within a second.
 */
export class FolderPages {
  readonly #pages: FolderThreads['pages'];
  readonly #cache: PageCache;
  readonly #now: () => number;
  #prefix: string;

  /** @param now ms, monotonic */
  constructor({ pages }: Pick<FolderThreads, 'pages'>, cache: PageCache, now: () => number = () => performance.now()) {
    this.#pages = pages;
    this.#cache = cache;
    this.#prefix = cache.newPrefix();
    this.#now = now;
  }

  /** @throws ItemNotFound if there is no folder */
  async read(path: ItemPath, query: ListingQuery): Promise<ListingPage> {
    const key = this.#prefix + JSON.stringify([path, query]);
    const readAt = this.#now();
    const cachedPage = this.#cache.get(key);
    const recentPage = cachedPage && readAt - cachedPage.readAt < lifetime ? cachedPage : null;
    const { page, version } = await this.#pages.run('readPage', [path, query, recentPage?.version ?? null], { onLateResult: () => {} });
    if (recentPage && !page) return recentPage.page;
    if (!page) throw new Error('the page was not read'); // cannot happen: without a known version, `readPage` always returns a page
    if (version !== null) this.#cache.set(key, { page, version, readAt });
    return page;
  }

  /** Call this after each change in the location: some file systems do not change the time of a folder. */
  clear(): void {
    this.#prefix = this.#cache.newPrefix();
  }
}
