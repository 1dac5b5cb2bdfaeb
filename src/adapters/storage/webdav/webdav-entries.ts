import { computedEtag } from '#adapters/storage/computed-etag.ts';
import type { ServerEntry } from '#adapters/storage/moves/item-server.ts';
import { checkedEtag } from '#adapters/storage/objects/list-pages.ts';
import { serviceErrorOf } from '#adapters/storage/objects/service-errors.ts';
import { skipBody } from '#adapters/storage/objects/service-request.ts';
import { childrenOf, childText, readElements, type XmlElement, type XmlLimits } from '#adapters/storage/objects/xml.ts';
import { nameError } from '#core/item-path.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { WebdavServer } from './webdav-server.ts';

const body =
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/><getetag/></prop></propfind>';
const maxListed = 1_000_000; // entries of one folder
/** Enough for a folder with a million entries. The elements of the response are read one by one. */
const listLimits: XmlLimits = { bytes: 1 << 30, elements: 30 * maxListed };
const entryLimits: XmlLimits = { bytes: 1 << 16, elements: 1000 };
const redirects = [301, 307, 308];
const listTimeLimit = 300_000; // ms: some servers read the entire folder before they send the first entry
const batchSize = 1000;

/** An entry, and whether the server itself has sent its ETag. */
export interface WebdavEntry extends ServerEntry {
  readonly hasServerEtag: boolean;
}

/** Returns an ETag with its quotes, which some servers leave out; '' if the text is not an ETag. */
const withQuotes = (etag: string): string => {
  const text = /^(W\/)?"/.test(etag) || etag === '' ? etag : `"${etag}"`;
  return /^(W\/)?"[!#-~]*"$/.test(text) ? text : '';
};

/** Returns the path segments of `href` below a folder: none for the folder itself, null if `href` is invalid or outside of it. */
function segmentsBelow(root: URL, href: string): readonly string[] | null {
  if (!URL.canParse(href, root)) return null;
  const { pathname } = new URL(href, root);
  const [above, path] = [root.pathname.split('/').filter(Boolean), pathname.split('/').filter(Boolean)];
  try {
    const decodedPath = path.map(decodeURIComponent);
    if (!above.map(decodeURIComponent).every((segment, index) => segment === decodedPath[index])) return null;
    return decodedPath.slice(above.length);
  } catch {
    return null;
  }
}

/** Returns the properties with status 200 of a response. */
function propertiesOf(response: XmlElement): XmlElement | null {
  const success = childrenOf(response, 'propstat').find((propstat) => / 200 /.test(`${childText(propstat, 'status')} `));
  return success ? (childrenOf(success, 'prop')[0] ?? null) : null;
}

/** Returns whether a response says that there is no item. */
const saysAbsent = (response: XmlElement): boolean =>
  [response, ...childrenOf(response, 'propstat')].some((element) => / 404 /.test(`${childText(element, 'status') ?? ''} `));

/**
 * Returns the entry that a response describes, and its path below the folder; or null, if the response describes no entry. The path is
 * empty for the folder itself, and for an item that is not below it.
 */
function entryOf(response: XmlElement, folder: URL, now: number): { readonly path: readonly string[]; readonly entry: WebdavEntry } | null {
  const properties = propertiesOf(response);
  const path = segmentsBelow(folder, (childText(response, 'href') ?? '').trim()) ?? [];
  if (properties === null) return null;
  const isFolder = childrenOf(properties, 'resourcetype').some((type) => childrenOf(type, 'collection').length > 0);
  const time = Date.parse(childText(properties, 'getlastmodified') ?? '');
  const modified = Number.isNaN(time) ? null : time;
  const name = path.at(-1) ?? '';
  if (isFolder) return { path, entry: { name, folder: true, size: 0, modified, etag: 'W/"folder"', hasServerEtag: false } };
  const length = childText(properties, 'getcontentlength') ?? '';
  const size = /^\d{1,16}$/.test(length) ? Number(length) : null;
  if (modified === null) throw new StorageUnavailable('the server sent a file without a time');
  const serverEtag = withQuotes(checkedEtag(childText(properties, 'getetag') ?? '').trim());
  const etag = serverEtag === '' ? computedEtag(size ?? 0, modified, now) : serverEtag;
  return { path, entry: { name, folder: false, size: size ?? 0, modified, etag, hasServerEtag: serverEtag !== '', isEmpty: size === 0 } };
}

async function* responses(server: WebdavServer, url: URL, depth: '0' | '1', limits: XmlLimits, now: () => number) {
  const headers = { depth, 'content-type': 'application/xml; charset=utf-8' };
  const request = {
    headers,
    body,
    expected: [301, 307, 308, 400, 403, 404, 405],
    ...(depth === '0' ? {} : { timeLimit: listTimeLimit, once: true }),
  };
  const response = await server.send('PROPFIND', url, request);
  if (response.status !== 207) {
    await skipBody('PROPFIND', response);
    if (response.status === 404) return;
    throw server.errorOf(response.status);
  }
  try {
    for await (const element of readElements(response.body, server.monotonic, { root: 'multistatus', name: 'response' }, limits)) {
      const item = entryOf(element, url, now());
      if (item) yield item;
      else if (depth === '0' && !saysAbsent(element)) throw new StorageUnavailable('the server sent no properties of an item');
    }
  } catch (cause) {
    throw cause instanceof StorageUnavailable ? cause : new StorageUnavailable('the connection to the server was lost', { cause });
  }
}

/** Returns the entry at a path, or null. @param now ms since the epoch @param isFolder whether the address gets a slash at its end */
export async function findEntry(
  server: WebdavServer,
  path: readonly string[],
  now: () => number,
  isFolder = false,
): Promise<WebdavEntry | null> {
  try {
    // There is only one response. It is about this path, even if the server spells the path differently.
    for await (const { entry } of responses(server, server.urlOf(path, isFolder), '0', entryLimits, now))
      return { ...entry, name: path.at(-1) ?? '' };
    return null;
  } catch (cause) {
    const status = serviceErrorOf(cause)?.status ?? 0;
    if (redirects.includes(status) && !isFolder) return findEntry(server, path, now, true); // to the same address with a slash
    // Some servers answer 400 or 403, not 404, for a path whose parent is a file or does not exist.
    if (path.length < 2 || ![400, 403].includes(status)) throw cause;
    const parent = await findEntry(server, path.slice(0, -1), now);
    if (parent?.folder) throw cause;
    return null;
  }
}

/** Yields the entries of a folder in batches. Leaves out entries with invalid names. @param now ms since the epoch */
export async function* listEntries(server: WebdavServer, path: readonly string[], now: () => number): AsyncGenerator<WebdavEntry[]> {
  let [batch, count] = [[] as WebdavEntry[], 0];
  for await (const { path: below, entry } of responses(server, server.urlOf(path, true), '1', listLimits, now)) {
    if (below.length !== 1 || nameError(entry.name) !== null) continue;
    count += 1;
    if (count > maxListed) throw new StorageUnavailable('the folder has too many files');
    batch.push(entry);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
