import { computedEtag, isSameVersion } from '#adapters/storage/computed-etag.ts';
import { memoryFile } from '#adapters/storage/memory-file.ts';
import { openObjectFile } from '#adapters/storage/objects/object-file.ts';
import type { ObjectDescription, ObjectRange, StoredObject } from '#adapters/storage/objects/object-store.ts';
import { rangeRequest } from '#adapters/storage/objects/service-request.ts';
import type { OutboundResponse } from '#ports/outbound.ts';
import type { OpenFile } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { findEntry, type WebdavEntry } from './webdav-entries.ts';
import type { WebdavServer } from './webdav-server.ts';

/** Returns the size of the complete file as `content-range` states it, or null. */
const sizeIn = (contentRange = ''): number | null => {
  const size = /^bytes \d+-\d+\/(\d{1,16})$/.exec(contentRange)?.[1];
  return size === undefined ? null : Number(size);
};

function emptyFile({ name, etag, modified }: WebdavEntry): OpenFile {
  if (modified === null) throw new StorageUnavailable('the server sent a file without a time');
  return memoryFile({ name, folder: false, size: 0, modified, etag }, new Uint8Array());
}

/** Opens a file. @param now ms since the epoch @returns null if there is none */
export async function openWebdavFile(server: WebdavServer, path: readonly string[], now: () => number): Promise<OpenFile | null> {
  const name = path.at(-1) ?? '';
  const url = server.urlOf(path);
  const listedEntry = await findEntry(server, path, now); // some servers answer a GET of a folder with an HTML page
  if (!listedEntry || listedEntry.folder) return null;

  /**
   * Gives a response the listed ETag if it is of the same version. If the server lists none, an ETag computed from size and time
   * replaces the sent one. Some servers send an ETag only with the file, and some send a weak one at first.
   */
  function withListedEtag(response: OutboundResponse): OutboundResponse {
    const { 'last-modified': modified = '', 'content-range': range, etag: sentEtag = '' } = response.headers;
    const size = sizeIn(range);
    if (size === null || !listedEntry) return response;
    const etag = listedEntry.hasServerEtag ? sentEtag : computedEtag(size, Date.parse(modified), now());
    return { ...response, headers: { ...response.headers, etag: isSameVersion(etag, listedEntry.etag) ? listedEntry.etag : etag } };
  }
  async function get(_key: string, { etag, ...range }: ObjectRange = {}): Promise<OutboundResponse | null> {
    const condition = listedEntry?.hasServerEtag && etag?.startsWith('"') ? { etag } : {};
    const response = await server.send('GET', url, rangeRequest({ ...range, ...condition }));
    if (response.status !== 404) return withListedEtag(response);
    response.discard();
    return null;
  }
  async function describe(key: string): Promise<ObjectDescription | null> {
    const entry = await findEntry(server, path, now);
    if (!entry || entry.folder) return null;
    const { size, modified, etag } = entry;
    if (modified === null) throw new StorageUnavailable('the server sent a file without a time');
    const object: StoredObject = { key, size, modified, etag, mayNeedRestore: false };
    return { ...object, token: null, headers: {} };
  }
  if (listedEntry.isEmpty) return emptyFile(listedEntry); // servers ignore ranges of an empty file
  return openObjectFile({ get, describe, monotonic: server.monotonic, versionHeader: null }, name, name);
}
