import fs from 'node:fs';
import type { DatedEntry } from '#core/listing.ts';
import { ItemChanged } from '#ports/storage-errors.ts';
import { type ErrorMessage, errorMessage, errorWithCode, RootGone } from './disk-errors.ts';
import { diskEntryOf } from './entry.ts';
import { isRootPresent, openPathWithinRoot, reopen, type StorageRoot } from './open-within-root.ts';

/** Files up to this size (bytes) are part of the response. With 64 KiB more, one read would delay other requests too long. */
const maxInlineSize = 1 << 17;
/** ms. The clock of a file system is coarse, so a file that has just changed can change again and keep its times. */
const stableAfter = 1000;
const maxAttempts = 3; // to read a file that changes during the read

/** A request for a file, or for the entry of a file or folder. */
export interface ReadRequest {
  /** Segments, joined by slashes. */
  readonly path: string;
  /** Validator of the bytes that the caller has in its cache. */
  readonly cachedEtag?: string;
  /** true: the response has the entry, but not the bytes. */
  readonly entryOnly: boolean;
  /** Number of callers that share the request: a large file is opened once for each. */
  readonly callers: number;
}
export type ReadResponse =
  /** `notModified`: the file still has the validator that the request named. */
  | { readonly kind: 'absent' | 'notModified' }
  | { readonly kind: 'entry'; readonly entry: DatedEntry }
  | { readonly kind: 'problem'; readonly error: ErrorMessage }
  /** `isCacheable`: a later file with the same validator has the same bytes. */
  | { readonly kind: 'bytes'; readonly entry: DatedEntry; readonly bytes: Uint8Array<ArrayBuffer>; readonly isCacheable: boolean }
  | { readonly kind: 'open'; readonly entry: DatedEntry; readonly descriptors: readonly number[] };

/** A buffer that a thread sends back, with the number of bytes that were read into it or written from it. */
export interface FilledBuffer {
  readonly buffer: ArrayBuffer;
  readonly count: number;
}

/** Fills a buffer from a position in a file. @returns the number of bytes: all of the buffer, or fewer at the end of the file */
export function fillBuffer(file: number, buffer: Uint8Array, position: number): number {
  let filled = 0;
  for (let count = 1; count > 0 && filled < buffer.length; filled += count)
    count = fs.readSync(file, buffer, filled, buffer.length - filled, position + filled);
  return filled;
}

/** Reads all bytes of a file. Returns null if it has become shorter: the missing bytes would be sent as NUL. */
function readAll(file: number, size: number): Uint8Array<ArrayBuffer> | null {
  const bytes = new Uint8Array(size);
  return fillBuffer(file, bytes, 0) === size ? bytes : null;
}

/** Opens a separate descriptor for each caller. */
function openDescriptors(pathDescriptor: number, times: number): number[] {
  const descriptors: number[] = [];
  try {
    while (descriptors.length < times) descriptors.push(reopen(pathDescriptor));
    return descriptors;
  } catch (cause) {
    for (const descriptor of descriptors) fs.closeSync(descriptor);
    throw cause;
  }
}

const hasChanged = (before: fs.BigIntStats, after: fs.BigIntStats) =>
  before.mtimeNs !== after.mtimeNs || before.ctimeNs !== after.ctimeNs || before.size !== after.size;

/** Opens a large file, or reads a small one. @throws ItemChanged if another process changes it again and again */
function readFile(pathDescriptor: number, name: string, times: number): ReadResponse {
  const file = reopen(pathDescriptor);
  try {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const stat = fs.fstatSync(file, { bigint: true });
      const entry = diskEntryOf(name, stat);
      if (!entry || entry.folder) return { kind: 'absent' };
      if (entry.size > maxInlineSize) return { kind: 'open', entry, descriptors: openDescriptors(pathDescriptor, times) };
      const bytes = readAll(file, entry.size);
      // A file that is truncated and rewritten during the read can be read with zeros that it never contained.
      if (bytes && hasChanged(stat, fs.fstatSync(file, { bigint: true }))) continue;
      const changedAt = Math.max(Number(stat.mtimeMs), Number(stat.ctimeMs));
      if (bytes) return { kind: 'bytes', entry, bytes, isCacheable: changedAt < Date.now() - stableAfter };
    }
    throw new ItemChanged('the file changes while it is read');
  } finally {
    fs.closeSync(file);
  }
}

function entryResponse(name: string, stat: fs.BigIntStats): ReadResponse {
  const entry = diskEntryOf(name, stat);
  return entry ? { kind: 'entry', entry } : { kind: 'absent' };
}

function read(root: StorageRoot, { path, cachedEtag, entryOnly, callers: times }: ReadRequest): ReadResponse {
  if (path === '' && entryOnly) return entryResponse('', fs.fstatSync(root.descriptor, { bigint: true }));
  const segments = path === '' ? [] : path.split('/');
  const name = segments.at(-1) ?? '';
  const pathDescriptor = openPathWithinRoot(root, segments);
  try {
    const stat = fs.fstatSync(pathDescriptor, { bigint: true });
    if (entryOnly) return entryResponse(name, stat);
    const entry = diskEntryOf(name, stat);
    if (!entry) throw errorWithCode('ELOOP');
    if (cachedEtag !== undefined && entry.etag === cachedEtag) return { kind: 'notModified' };
    return readFile(pathDescriptor, name, times);
  } finally {
    fs.closeSync(pathDescriptor);
  }
}

function readOrProblem(root: StorageRoot, request: ReadRequest): ReadResponse {
  try {
    return read(root, request);
  } catch (cause) {
    return { kind: 'problem', error: errorMessage(cause) };
  }
}

/** Answers requests in their order. Checks the root once for all of them. */
export function readFiles(root: StorageRoot, requests: readonly ReadRequest[]): readonly ReadResponse[] {
  if (isRootPresent(root)) return requests.map((request) => readOrProblem(root, request));
  const error = errorMessage(new RootGone('the folder of the location is gone'));
  return requests.map(() => ({ kind: 'problem', error }));
}

/** Returns the memory in the result of a command that can be moved to another thread instead of being copied. */
export function transferableBuffers(result: unknown): ArrayBuffer[] {
  if (result instanceof Object && 'buffer' in result && result.buffer instanceof ArrayBuffer) return [result.buffer];
  const responses: readonly (ReadResponse | undefined)[] = Array.isArray(result) ? result : [];
  return responses.flatMap((response) => (response?.kind === 'bytes' ? [response.bytes.buffer] : []));
}
