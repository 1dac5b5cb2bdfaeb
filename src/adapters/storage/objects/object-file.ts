import type { DatedEntry } from '#core/listing.ts';
import type { OutboundResponse } from '#ports/outbound.ts';
import type { OpenFile } from '#ports/storage.ts';
import { ItemChanged, StorageUnavailable } from '#ports/storage-errors.ts';
import { enforceMinRate } from './enforce-min-rate.ts';
import { checkedEtag, timeOf } from './list-pages.ts';
import { fileEntry } from './object-folders.ts';
import type { ObjectRange, ObjectStore } from './object-store.ts';
import { isClaim } from './upload-evidence.ts';

/** Bytes that are read when a file is opened: small files need no second request. */
const firstBytes = 1 << 17;

/**
 * Attempts to read a range: each one requests what is missing. The count begins anew after an attempt that has received `minProgress`
 * bytes.
 */
const maxAttempts = 3;
const minProgress = 1 << 20;

/** The part of a store that reads objects. */
type ReadableStore = Pick<ObjectStore, 'get' | 'describe' | 'monotonic' | 'versionHeader'>;

/** The connection was lost before all bytes had arrived. */
class ConnectionLost extends StorageUnavailable {}

/** Names the object that was opened. */
interface OpenedVersion {
  readonly key: string;
  readonly etag: string;
  /** Number of the version; null: the service keeps no earlier versions. */
  readonly version: string | null;
}

interface OpenedObject extends OpenedVersion {
  readonly entry: DatedEntry;
  readonly start: Uint8Array;
}

/** Returns the size of the object from the header `content-range`, or null if the service ignores ranges. */
function sizeOf({ status, headers }: OutboundResponse): number | null {
  const size = /^bytes 0-\d+\/(\d{1,16})$/.exec(headers['content-range'] ?? '')?.[1];
  return status === 206 && size !== undefined ? Number(size) : null;
}

/** Reads the beginning of an object. @returns null if there is none */
async function openObject(store: ReadableStore, key: string, name: string): Promise<OpenedObject | null> {
  const response = await store.get(key, { range: [0, firstBytes - 1] });
  if (!response) return null;
  if (response.status === 416) {
    response.discard();
    const empty = await store.describe(key); // a range of an empty object does not exist
    if (!empty || isClaim(empty.token)) return null; // deleted meanwhile; or an upload has claimed the key, and the file is not there yet
    return { key, etag: empty.etag, version: null, entry: fileEntry(name, empty), start: new Uint8Array() };
  }
  const size = sizeOf(response);
  if (size === null) {
    response.discard();
    throw new StorageUnavailable('the service ignores ranges');
  }
  const start = await readExactly(response, Math.min(size, firstBytes));
  const [modified, etag] = [timeOf(response.headers['last-modified']), checkedEtag(response.headers['etag'])];
  const version = store.versionHeader === null ? null : (response.headers[store.versionHeader] ?? null);
  return { key, etag, version, entry: fileEntry(name, { size, modified, etag, mayNeedRestore: false }), start };
}

async function readExactly(response: OutboundResponse, length: number): Promise<Uint8Array> {
  const bytes = await response.read(length).catch((cause: unknown) => {
    throw new StorageUnavailable('the connection to the service was lost', { cause });
  });
  if (bytes.length !== length) throw new StorageUnavailable('the service sent a different number of bytes than it announced');
  return bytes;
}

/** Requests a range of the opened object: if it was replaced or deleted, of the earlier version that the service keeps. */
async function getRange(store: ReadableStore, { key, etag, version }: OpenedVersion, range: ObjectRange): Promise<OutboundResponse | null> {
  const response = await store.get(key, { ...range, etag });
  if (version === null || (response && response.status !== 412)) return response;
  response?.discard();
  return store.get(key, { ...range, etag, version }).catch(() => null); // the credentials may not permit this
}

/**
 * Requests a range of the opened object, and yields its bytes.
 * @throws ItemChanged if the object was replaced or deleted; ConnectionLost if the response ends too early; StorageUnavailable
 */
async function* requestRange(store: ReadableStore, opened: OpenedVersion, start: number, end: number, signal?: AbortSignal) {
  const { etag } = opened;
  const response = await getRange(store, opened, { range: [start, end], streamed: true, ...(signal ? { signal } : {}) });
  if (!response) throw new ItemChanged('the object was deleted');
  const { 'content-range': range = '', etag: version } = response.headers;
  if (response.status !== 206 || version !== etag || !range.startsWith(`bytes ${start}-${end}/`)) {
    response.discard();
    if (response.status === 200) throw new StorageUnavailable('the service ignores ranges');
    throw new ItemChanged('another object has this key now');
  }
  let remaining = end - start + 1;
  try {
    for await (const piece of enforceMinRate(response.body, store.monotonic)) {
      signal?.throwIfAborted();
      remaining -= piece.length;
      if (remaining < 0) break;
      yield piece;
    }
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof StorageUnavailable) throw cause;
    throw new ConnectionLost('the connection to the service was lost', { cause });
  }
  if (remaining < 0) throw new StorageUnavailable('the service sent more bytes than it announced');
  if (remaining > 0) throw new ConnectionLost('the service sent fewer bytes than it announced');
}

/** As `requestRange`. Requests the rest if the connection is lost: some services close it during a long download. */
async function* readRange(store: ReadableStore, opened: OpenedVersion, start: number, end: number, signal?: AbortSignal) {
  let [position, attempt] = [start, 1];
  while (position <= end) {
    const first = position;
    try {
      for await (const piece of requestRange(store, opened, first, end, signal)) {
        position += piece.length;
        yield piece;
      }
    } catch (cause) {
      attempt = position - first >= minProgress ? 1 : attempt + 1;
      if (!(cause instanceof ConnectionLost) || attempt > maxAttempts) throw cause;
    }
  }
}

/**
 * Opens a file. Its beginning is read at once. Each `read` requests only bytes after the beginning.
 * @returns null if there is no such object
 */
export async function openObjectFile(store: ReadableStore, key: string, name: string): Promise<OpenFile | null> {
  const object = await openObject(store, key, name);
  if (!object) return null;
  const { entry, start: first } = object;
  return {
    entry,
    ...(first.length === entry.size ? { content: first } : {}),
    async *read({ start, end }, signal) {
      if (start < first.length && start <= end) yield first.subarray(start, end + 1);
      const next = Math.max(start, first.length);
      if (next <= end) yield* readRange(store, object, next, end, signal);
    },
    close: async () => {},
  };
}
