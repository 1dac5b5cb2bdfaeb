import { openObjectFile } from '#adapters/storage/objects/object-file.ts';
import type { ObjectDescription, ObjectRange } from '#adapters/storage/objects/object-store.ts';
import { rangeRequest } from '#adapters/storage/objects/service-request.ts';
import type { OpenFile } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { DataLakeItems } from './data-lake-items.ts';

/** Opens a file. @param monotonic returns ms of a monotonic clock @returns null if there is none @throws ItemArchived */
export async function openDataLakeFile(items: DataLakeItems, path: readonly string[], monotonic: () => number): Promise<OpenFile | null> {
  const name = path.at(-1) ?? '';
  const entry = await items.find(path); // needed because the service sends a folder as an empty file
  if (!entry || entry.folder) return null;
  const get = (key: string, range: ObjectRange = {}) => items.container.get(key, rangeRequest(range));
  async function describe(key: string): Promise<ObjectDescription | null> {
    const current = await items.find(path);
    if (!current || current.folder) return null;
    const { size, modified, etag } = current;
    if (modified === null) throw new StorageUnavailable('the service sent a file without a time');
    return { key, size, modified, etag, mayNeedRestore: false, token: null, headers: {} };
  }
  return openObjectFile({ get, describe, monotonic, versionHeader: null }, items.keyOf(path), name);
}
