import { copyText } from '#adapters/storage/copy-text.ts';
import type { ServerEntry } from '#adapters/storage/moves/item-server.ts';
import { enforceMinRate } from '#adapters/storage/objects/enforce-min-rate.ts';
import { sizeOf, timeOf } from '#adapters/storage/objects/list-pages.ts';
import { readPieces } from '#adapters/storage/objects/service-request.ts';
import { exceededJsonLimit } from '#core/json-structure.ts';
import type { MemoryReservation } from '#core/memory-budget.ts';
import type { OutboundResponse } from '#ports/outbound.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { quotedEtag } from './azure-list.ts';

/** Limits of a page with 1,000 entries, each with up to 20 properties. */
const pageLimits = { bytes: 4 << 20, depth: 4, values: 50_000 };
const memoryPerByte = 6; // of a page: its pieces, its bytes, its text and its values

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
/**
 * Returns a member as text; '' if it is absent. The service sends most values as texts. Which ones are numbers or booleans instead depends
 * on its version.
 */
const textOf = (value: unknown, name: string) => `${member(value, name) ?? ''}`;

/** Reads a response to its end. @throws StorageUnavailable if it is too long or too slow; StorageBusy if memory is short */
async function readPage(response: OutboundResponse, monotonic: () => number, memory: MemoryReservation): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of enforceMinRate(readPieces('GET', response), monotonic)) {
    bytes += piece.length;
    if (bytes > pageLimits.bytes) throw new StorageUnavailable('the service sent a list that is too long');
    memory.set(memoryPerByte * bytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes);
}

/** Returns the entries in a response. @throws StorageUnavailable if it is not a list, or has too many values or levels */
function pathsOf(content: Buffer): readonly unknown[] {
  if (exceededJsonLimit(content, pageLimits)) throw new StorageUnavailable('the service sent a list with too many values or levels');
  try {
    const paths = member(JSON.parse(content.toString()), 'paths');
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
 * @param monotonic ms
 * @param memory of the task that lists the folder
 * @throws StorageUnavailable, StorageBusy
 */
export async function readDataLakePage(
  response: OutboundResponse,
  folder: string,
  monotonic: () => number,
  memory: MemoryReservation,
): Promise<ServerEntry[]> {
  return pathsOf(await readPage(response, monotonic, memory)).map((path) => entryOf(path, folder));
}
