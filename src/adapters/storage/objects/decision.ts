import type { MemoryReservation } from '#core/memory-budget.ts';
import type { OutboundBody } from '#ports/outbound.ts';
import { StorageBusy, StorageUnavailable } from '#ports/storage-errors.ts';
import { enforceMinRate } from './enforce-min-rate.ts';

/** ETags of objects by key. */
export type ETagsByKey = ReadonlyMap<string, string>;

const linesPerPiece = 500; // some 64 KiB: writing many lines must not block the event loop
/** Estimated memory in bytes: for each character of a key or ETag, and for each version. */
export const memoryOfVersion = { character: 2, version: 400 };
const maxLine = 1 << 13; // characters: a key of 1,024 bytes, each byte written as \u0001, and an ETag

const lineOf = (version: readonly [string, string]) => `${JSON.stringify(version)}\n`;

async function* piecesOf(versions: ETagsByKey): AsyncGenerator<Uint8Array> {
  let lines = '';
  let count = 0;
  for (const version of versions) {
    lines += lineOf(version);
    count += 1;
    if (count % linesPerPiece > 0) continue;
    yield Buffer.from(lines);
    lines = '';
    await new Promise(setImmediate);
  }
  if (lines !== '') yield Buffer.from(lines);
}

/** Returns a body for a request, with the versions of the objects that a change deletes: a line of JSON for each. */
export async function decisionBody(versions: ETagsByKey): Promise<OutboundBody> {
  let length = 0;
  for await (const piece of piecesOf(versions)) length += piece.length;
  return { length, pieces: { [Symbol.asyncIterator]: () => piecesOf(versions) } };
}

function parseLine(line: string): [string, string] {
  const [key, etag]: unknown[] = JSON.parse(line);
  if (typeof key !== 'string' || typeof etag !== 'string') throw new TypeError('a line is not a pair of texts');
  return [key, etag];
}

/**
 * Reads what `decisionBody` has written.
 * @param maxVersions the most versions that a decision may have
 * @param monotonic returns a monotonic time in ms
 * @param memory reservation of the task that uses the decision: set to the memory that the versions take
 * @throws StorageUnavailable if the body cannot be read or is not a complete decision; StorageBusy if too little memory is left
 */
export async function readDecision(
  body: AsyncIterable<Uint8Array>,
  maxVersions: number,
  monotonic: () => number,
  memory: MemoryReservation,
): Promise<ETagsByKey> {
  const versions = new Map<string, string>();
  const decoder = new TextDecoder();
  let [rest, count, bytes] = ['', 0, 0];
  try {
    for await (const piece of enforceMinRate(body, monotonic)) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      count += lines.length;
      if (count > maxVersions || [rest, ...lines].some(({ length }) => length > maxLine)) throw new RangeError('the decision is too long');
      bytes += memoryOfVersion.version * lines.length + memoryOfVersion.character * piece.length;
      memory.set(bytes);
      for (const [key, etag] of lines.map(parseLine)) versions.set(key, etag);
    }
  } catch (cause) {
    if (cause instanceof StorageBusy) throw cause;
    throw new StorageUnavailable('the decision of a change cannot be read', { cause });
  }
  if (rest !== '') throw new StorageUnavailable('the decision of a change is not complete');
  return versions;
}
