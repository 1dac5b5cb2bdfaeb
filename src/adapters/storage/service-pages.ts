import { setImmediate } from 'node:timers/promises';
import type { ItemPath } from '#core/item-path.ts';
import type { Entry, ListingPage, ListingQuery } from '#core/listing.ts';
import type { GroupMemory, MemoryReservation } from '#core/memory-budget.ts';
import { memoryOfEntry, PageSelection, type Steps } from '#core/page-selection.ts';
import type { ContinuedUpload, Upload } from '#ports/storage.ts';
import { StorageBusy } from '#ports/storage-errors.ts';
import type { FolderListCache } from './folder-list-cache.ts';
import { uploadWith } from './upload-with.ts';

const maxListMemory = 48 << 20; // bytes for the entries of a large folder

/** What the pages of a location at a service need. */
export interface PageServices {
  /** Memory for lists of entries while they are read. */
  readonly memory: GroupMemory;
  readonly lists: FolderListCache;
}

/** Does all steps of some work. Other work may run after each step. */
async function finishWithPauses<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await setImmediate();
  }
}

/** Reserves memory for the entries that are kept. Drops the entries after the page if there is not enough memory. @throws StorageBusy */
async function reserve(memory: MemoryReservation, selection: PageSelection<Entry>): Promise<void> {
  try {
    memory.set(selection.bytes);
  } catch (cause) {
    if (!(cause instanceof StorageBusy)) throw cause;
    await finishWithPauses(selection.dropAfterPage());
    memory.set(selection.bytes);
  }
}

/**
 * Reads pages of the folders of a location at a service that lists folders unsorted. The first page of a folder is always
 * read from the service. A further page comes from the list that an earlier request cached, if it still exists.
 */
export class ServicePages {
  readonly #memory: GroupMemory;
  readonly #lists: FolderListCache;
  #prefix: string;

  constructor({ memory, lists }: PageServices) {
    this.#memory = memory;
    this.#lists = lists;
    this.#prefix = lists.newPrefix();
  }

  /**
   * Returns a page, with its memory.
   * @param list returns the entries of the folder, or null if there is none
   * @throws PageTooDeep, StorageBusy
   */
  async read(
    path: ItemPath,
    query: ListingQuery,
    list: () => Promise<AsyncIterable<readonly Entry[]> | null>,
  ): Promise<ListingPage | null> {
    const { startIndex, pageSize, ...order } = query;
    const key = this.#prefix + JSON.stringify([path, order]);
    const known = startIndex > 0 ? this.#lists.get(key) : undefined;
    if (known) return this.#withMemory({ entries: known.slice(startIndex, startIndex + pageSize), total: known.length });
    const batches = await list();
    if (!batches) return null;
    const { entries, total, all } = await this.#select(batches, query);
    if (all && all.length > pageSize) this.#lists.set(key, all);
    return this.#withMemory({ entries, total });
  }

  /** Clears the lists when a change of the location has succeeded or failed. Returns the result of the change. */
  clearAfter<T>(change: Promise<T>): Promise<T> {
    return change.finally(() => {
      this.#prefix = this.#lists.newPrefix();
    });
  }

  /** Returns the upload. Its `place` clears the lists. */
  async watchUpload(starting: Promise<Upload>): Promise<Upload> {
    const upload = await starting;
    return uploadWith(upload, { place: (confirm, lockName) => this.clearAfter(upload.place(confirm, lockName)) });
  }

  /** As `watchUpload`, for an upload that continues. */
  async watchContinued(continuing: Promise<ContinuedUpload>): Promise<ContinuedUpload> {
    const upload = await continuing;
    return { ...(await this.watchUpload(continuing)), readBack: () => upload.readBack() };
  }

  async #select(batches: AsyncIterable<readonly Entry[]>, query: ListingQuery) {
    const selection = new PageSelection<Entry>(query, { maxBytes: maxListMemory, keepsAll: true });
    using memory = this.#memory.begin();
    for await (const batch of batches) {
      await finishWithPauses(selection.add(batch));
      await reserve(memory, selection);
    }
    return finishWithPauses(selection.page());
  }

  #withMemory(page: ListingPage): ListingPage {
    const memory = this.#memory.begin();
    memory.set(page.entries.reduce((sum, entry) => sum + memoryOfEntry(entry), 0));
    return { ...page, memory };
  }
}
