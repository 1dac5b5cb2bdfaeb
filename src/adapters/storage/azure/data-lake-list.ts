import { copyText } from '#adapters/storage/copy-text.ts';
import type { ServerEntry } from '#adapters/storage/moves/item-server.ts';
import { sizeOf, timeOf } from '#adapters/storage/objects/list-pages.ts';
import { readBody } from '#adapters/storage/objects/service-request.ts';
import { exceededJsonLimit } from '#core/json-structure.ts';
import type { OutboundResponse } from '#ports/outbound.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { quotedEtag } from './azure-list.ts';

/** Limits of a page with 1,000 entries, each with up to 20 properties. */
const pageLimits = { bytes: 4 << 20, depth: 4, values: 50_000 };

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
/** Returns a member as text; '' if it is absent. The service sends most values as texts, but not all in each version. */
const textOf = (value: unknown, name: string) => `${member(value, name) ?? ''}`;

/** @throws StorageUnavailable if the response is not a list */
function pathsOf(content: Uint8Array): readonly unknown[] {
  if (exceededJsonLimit(content, pageLimits)) throw new StorageUnavailable('the service sent a list with too many values');
  try {
    const paths = member(JSON.parse(Buffer.from(content).toString()), 'paths');
    if (Array.isArray(paths)) return paths;
  } catch (cause) {
    throw new StorageUnavailable('the service sent a list that is not JSON', { cause });
  }
  throw new StorageUnavailable('the service sent a document other than a list');
}

function entryOf(path: unknown, folder: string): ServerEntry {
  const fullName = textOf(path, 'name');
  if (!fullName.startsWith(folder)) throw new StorageUnavailable('the service lists another folder');
  const name = copyText(fullName.slice(folder.length));
  const modified = timeOf(textOf(path, 'lastModified'));
  if (textOf(path, 'isDirectory') === 'true') return { name, folder: true, size: 0, modified, etag: 'W/"folder"' };
  const size = sizeOf(textOf(path, 'contentLength') || '0');
  return { name, folder: false, size, modified, etag: quotedEtag(textOf(path, 'etag')), isEmpty: size === 0 };
}

/**
 * Reads a page of the list of a folder ("Path - List" in the documentation of Azure Data Lake Storage).
 * @param folder path of the folder, with a slash at its end; '' for the container
 * @throws StorageUnavailable
 */
export async function readDataLakePage(response: OutboundResponse, folder: string): Promise<ServerEntry[]> {
  const content = await readBody('GET', () => response.read(pageLimits.bytes));
  return pathsOf(content).map((path) => entryOf(path, folder));
}
