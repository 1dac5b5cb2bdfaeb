import { exceededJsonLimit } from '#core/json-structure.ts';
import type { OutboundBody } from '#ports/outbound.ts';
import { ItemNotFound, StorageUnavailable } from '#ports/storage-errors.ts';
import { enforceMinRate } from './enforce-min-rate.ts';
import type { ObjectFolders } from './object-folders.ts';
import type { ObjectStore } from './object-store.ts';
import { readPieces } from './service-request.ts';

const maxIdBytes = 520; // of the id of a part in JSON: up to 256 characters, each of up to two bytes, and what separates it from the next
const newline = 0x0a;
const suffix = '.rest';
/** Returns whether an object of the staging area is the progress of an upload. */
export const isUploadProgress = (key: string) => key.endsWith(suffix);
/** Where the progress is stored. */
interface ProgressFolders extends Pick<ObjectFolders, 'keys'> {
  readonly store: Pick<ObjectStore, 'get' | 'put' | 'delete' | 'list' | 'monotonic'>;
}

const unreadable = () => new StorageUnavailable('the progress of an upload cannot be read');

/**
 * Yields what follows the first line of a body.
 * @param maxLine bytes
 * @param onLine receives the first line
 * @throws StorageUnavailable if this line is longer than `maxLine`, or the body ends within it
 */
async function* afterFirstLine(
  pieces: AsyncIterable<Uint8Array>,
  maxLine: number,
  onLine: (line: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  let line: Uint8Array[] | null = [];
  let length = 0;
  for await (const piece of pieces) {
    if (line === null) {
      yield piece;
      continue;
    }
    const end = piece.indexOf(newline);
    const part = end < 0 ? piece : piece.subarray(0, end);
    length += part.length;
    if (length > maxLine) break;
    line.push(part);
    if (end < 0) continue;
    onLine(Buffer.concat(line));
    line = null;
    yield piece.subarray(end + 1);
  }
  if (line !== null) throw unreadable();
}

/** Returns the ids of parts. @throws StorageUnavailable */
function parseIds(line: Uint8Array, partCount: number): readonly string[] {
  if (exceededJsonLimit(line, { depth: 1, values: partCount + 1 })) throw unreadable();
  try {
    const ids: unknown = JSON.parse(Buffer.from(line).toString());
    if (Array.isArray(ids) && ids.length === partCount && ids.every((id) => typeof id === 'string')) return ids;
  } catch {} // not JSON: unreadable, too
  throw unreadable();
}

/**
 * The progress of an upload that can be continued: an object in the staging area with the ids of the complete parts and
 * the bytes that follow them. These bytes cannot be a part of their own, because a part has at least 5 MiB. Each offset has its own
 * object: until the caller has recorded the new progress, the previous object is needed, and a process that was suspended must not
 * overwrite the progress that another one has saved since.
 */
export class UploadProgress {
  readonly #folders: ProgressFolders;
  readonly #token: string;
  /** Keys of the objects that were loaded or saved here, the newest last. */
  #keys: string[] = [];

  constructor(folders: ProgressFolders, token: string) {
    this.#folders = folders;
    this.#token = token;
  }

  /** Makes the progress durable. The caller must have recorded the progress that was saved before. */
  async save(partIds: readonly string[], rest: OutboundBody): Promise<void> {
    const { store } = this.#folders;
    const line = Buffer.from(`${JSON.stringify(partIds)}\n`);
    async function* pieces(): AsyncGenerator<Uint8Array> {
      yield line;
      yield* rest.pieces;
    }
    const body = { length: line.length + rest.length, pieces: { [Symbol.asyncIterator]: pieces } };
    const key = this.#keyOf(partIds.length, rest.length);
    await store.put(key, body, { repeatable: true });
    this.#keys = [...this.#keys.filter((other) => other !== key), key];
    const outdated = this.#keys.splice(0, this.#keys.length - 2);
    if (outdated.length > 0) await store.delete(outdated);
  }

  /**
   * Reads the progress that was saved with `partCount` complete parts.
   * @param length bytes that follow these parts
   * @param append receives these bytes
   * @returns the ids of the parts, or null if the progress is gone
   * @throws ItemNotFound if bytes are missing in it; StorageUnavailable
   */
  async load(partCount: number, length: number, append: (piece: Uint8Array) => Promise<void>): Promise<readonly string[] | null> {
    const { store } = this.#folders;
    const key = await this.#find(partCount, length);
    const response = key === null ? null : await store.get(key, { streamed: true });
    if (key === null || !response) return null;
    let partIds: readonly string[] = [];
    let missing = length;
    const pieces = enforceMinRate(readPieces('GET', response), store.monotonic);
    const rest = afterFirstLine(pieces, maxIdBytes * (partCount + 1), (line) => {
      partIds = parseIds(line, partCount);
    });
    for await (const piece of rest) {
      const part = piece.subarray(0, missing);
      missing -= part.length;
      if (part.length > 0) await append(part);
      if (missing === 0) break;
    }
    if (missing > 0) throw new ItemNotFound('uploaded bytes are gone');
    this.#keys = [key];
    return partIds;
  }

  /** Deletes all progress of the upload. */
  async clear(): Promise<void> {
    const { store, keys } = this.#folders;
    for await (const { objects } of store.list(keys.staging(`${this.#token}.`)))
      await store.delete(objects.map(({ key }) => key).filter(isUploadProgress));
  }

  /** Returns the key of the shortest progress with `partCount` complete parts and at least `minLength` bytes after them, or null. */
  async #find(partCount: number, minLength: number): Promise<string | null> {
    const { store, keys } = this.#folders;
    const prefix = keys.staging(`${this.#token}.${partCount}-`);
    let found: { readonly key: string; readonly length: number } | null = null;
    for await (const { objects } of store.list(prefix))
      for (const { key } of objects) {
        const length = Number.parseInt(key.slice(prefix.length), 10);
        if (length >= minLength && length < (found?.length ?? Number.POSITIVE_INFINITY)) found = { key, length };
      }
    return found?.key ?? null;
  }

  /** @param length bytes that follow the complete parts */
  #keyOf(partCount: number, length: number): string {
    return this.#folders.keys.staging(`${this.#token}.${partCount}-${length}${suffix}`);
  }
}
