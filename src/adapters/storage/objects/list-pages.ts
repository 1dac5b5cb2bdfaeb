import type { MemoryReservation } from '#core/memory-budget.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { ListedKeys, ObjectStore, StoredObject } from './object-store.ts';

const maxKeys = 1_000_000; // keys of one list: a service could list without end
/** ms that the requests of one list may take together. */
export const maxListTime = 300_000;
const maxEtag = 256; // characters

/** A page, and the marker with which the next page is requested; '' after the last page. */
export interface ListPage extends ListedKeys {
  readonly next: string;
}

/**
 * Yields the pages of a list.
 * @param read requests the first page for '', and each further page for the `next` of the previous page
 * @throws the errors of `read`; StorageUnavailable if there are more than a million keys, if the service is slow, or if the list does not
 * advance
 */
export async function* listPages(
  { memory, monotonic }: Pick<ObjectStore, 'memory' | 'monotonic'>,
  read: (next: string, memory: MemoryReservation) => Promise<ListPage>,
): AsyncGenerator<ListedKeys> {
  using storageMemory = memory.begin();
  let [keyCount, waitTime] = [0, 0];
  for (let next = ''; ; ) {
    const since = monotonic();
    const page = await read(next, storageMemory);
    waitTime += monotonic() - since;
    yield page;
    if (page.next === '') return;
    keyCount += 1 + page.objects.length + page.prefixes.length;
    if (keyCount > maxKeys) throw new StorageUnavailable('the folder has too many files');
    if (waitTime > maxListTime) throw new StorageUnavailable('the service takes too long to list the folder');
    if (page.next === next) throw new StorageUnavailable('the service lists the same keys again');
    next = page.next;
  }
}

/** Returns whether a list contains an object. In a bucket with versioning, an empty page can be followed by others. */
export async function hasObjects(pages: AsyncIterable<ListedKeys>): Promise<boolean> {
  for await (const { objects } of pages) if (objects.length > 0) return true;
  return false;
}

/** Truncates a time in ms to whole seconds: some services send a more exact time in a list than in the headers of an object. */
const truncateToSeconds = (time: number) => Math.floor(time / 1000) * 1000;

/** Returns the time of an object in ms, truncated to whole seconds. @throws StorageUnavailable if the text is not a time */
export function timeOf(text = ''): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new StorageUnavailable('the service sent an object without a time');
  return truncateToSeconds(time);
}

/** Returns a size in bytes. @throws StorageUnavailable if the text is not a size */
export function sizeOf(text = ''): number {
  const size = /^\d{1,16}$/.test(text) ? Number(text) : null;
  if (size === null) throw new StorageUnavailable('the service sent an object without a size');
  return size;
}

/** Returns an ETag. @throws StorageUnavailable if it is too long */
export function checkedEtag(text = ''): string {
  if (text.length > maxEtag) throw new StorageUnavailable('the service sent an ETag that is too long');
  return text;
}

/** Returns an object as the headers of a response describe it. */
export const objectFromHeaders = (key: string, headers: Readonly<Record<string, string>>, mayNeedRestore: boolean): StoredObject => ({
  key,
  size: sizeOf(headers['content-length']),
  modified: timeOf(headers['last-modified']),
  etag: checkedEtag(headers['etag']),
  mayNeedRestore,
});
