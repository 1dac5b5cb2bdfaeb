import { crc32 } from 'node:zlib';
import { readFully, reusedBuffer } from '#features/visits/files/read-fully.ts';
import { type OpenFile, StorageAway } from '#ports/storage.ts';
import type { PlanInUse, RunningChecksum } from './archive-plans.ts';
import type { PieceMemory } from './piece-memory.ts';
import { centralEntry, centralLength, descriptor, endOfArchive, headerLength, localHeader } from './zip-format.ts';
import { hasDescriptor, type PlacedItem } from './zip-plan.ts';

const pieceSize = 1 << 19; // bytes
const directoryPiece = 1 << 16;
const summedAtATurn = 1 << 26; // bytes: a tenth of a second or more

/** Which bytes of an archive are wanted, and by whom. */
export interface ArchiveRange {
  /** First and last byte, both inclusive. */
  readonly start: number;
  readonly end: number;
  /** Called while something is read of which nothing is sent. @throws where nobody waits any more */
  readonly reading: () => void;
}

/** The archive is no longer what was promised: what is sent has to break off. */
class ArchiveChanged extends Error {}

/** The bytes of a plan between two places, as pieces that are written one after another; each may be used again then. */
export async function* zipRange(
  { plan, sums, summing }: Pick<PlanInUse, 'plan' | 'sums' | 'summing'>,
  open: (item: PlacedItem) => Promise<OpenFile | null>,
  { start, end, reading }: ArchiveRange,
  room: Pick<PieceMemory, 'size'>,
): AsyncGenerator<Buffer> {
  /** What of a piece that begins at a place is wanted. */
  const cut = (piece: Buffer, at: number) => piece.subarray(Math.max(0, start - at), Math.max(0, end + 1 - at));
  const buffer = reusedBuffer();
  const touches = (from: number, length: number) => from <= end && from + length > start;

  async function opened(item: PlacedItem): Promise<OpenFile> {
    const file = await open(item);
    if (file?.entry.etag === item.etag) return file;
    await file?.close();
    throw new ArchiveChanged(item.name);
  }

  /** The bytes of a file from a place on, as many as were promised: what has grown since does not show. */
  async function* bytesOf(item: PlacedItem, from: number): AsyncGenerator<Buffer> {
    const file = await opened(item);
    try {
      const piece = Buffer.allocUnsafe(Math.min(pieceSize, item.size, room.size()));
      for (let position = from; position < item.size; ) {
        const wanted = piece.subarray(0, Math.min(piece.length, item.size - position));
        if ((await readFully(file, wanted, position)) < wanted.length) throw new ArchiveChanged(item.name);
        yield wanted;
        position += wanted.length;
      }
    } finally {
      await file.close();
    }
  }

  /** Reads a file only to compute its checksum, one slice per turn. @param readers called after every piece */
  async function readSum(item: PlacedItem, place: number, readers: ReadonlySet<() => void>): Promise<number> {
    let [crc, position] = [0, 0];
    const readSlice = async () => {
      const last = position + summedAtATurn;
      for await (const piece of bytesOf(item, position)) {
        reading();
        for (const other of readers) other();
        crc = crc32(piece, crc);
        position += piece.length;
        if (position >= last) break;
      }
    };
    while (position < item.size) await summing(readSlice);
    sums.set(place, item, crc);
    return crc;
  }

  /** Waits for a checksum that another request computes. That request may end before it is done. */
  async function waitWith({ sum, readers }: RunningChecksum): Promise<void> {
    const left = Promise.withResolvers<never>();
    const keep = () => {
      try {
        reading();
      } catch (cause) {
        left.reject(cause);
      }
    };
    readers.add(keep);
    try {
      await Promise.race([sum.catch(() => {}), left.promise]);
    } finally {
      readers.delete(keep);
    }
  }

  /** The sum of a file, which is read for it where it was not read before. */
  async function sumOf(item: PlacedItem, place: number): Promise<number> {
    for (;;) {
      const known = item.size === 0 ? 0 : sums.get(place, item);
      if (known !== undefined) return known;
      reading();
      const underWay = sums.underWay.get(place);
      if (!underWay) break;
      await waitWith(underWay);
    }
    const readers = new Set<() => void>();
    const sum = readSum(item, place, readers).finally(() => sums.underWay.delete(place));
    sums.underWay.set(place, { sum, readers });
    return sum;
  }

  /** A small file's header and bytes, in one piece. */
  async function small(item: PlacedItem, place: number): Promise<Buffer> {
    if (item.size === 0) return localHeader(item, { crc: 0, size: 0 });
    const file = await opened(item);
    try {
      const header = headerLength(Buffer.byteLength(item.name), false);
      const whole = buffer(header + item.size);
      const content = whole.subarray(header);
      if ((await readFully(file, content, 0)) < item.size) throw new ArchiveChanged(item.name);
      const crc = crc32(content);
      sums.set(place, item, crc);
      localHeader(item, { crc, size: item.size }).copy(whole);
      return whole;
    } finally {
      await file.close();
    }
  }

  /** The same where there is no memory for all of it at once: it is read twice, since its header tells its sum. */
  async function* smallInPieces(item: PlacedItem, place: number): AsyncGenerator<Buffer> {
    let crc = sums.get(place, item);
    if (crc === undefined) {
      crc = 0;
      for await (const piece of bytesOf(item, 0)) crc = crc32(piece, crc);
      sums.set(place, item, crc);
    }
    const header = localHeader(item, { crc, size: item.size });
    yield cut(header, item.offset);
    let at = item.offset + header.length;
    for await (const piece of bytesOf(item, 0)) {
      yield cut(piece, at);
      at += piece.length;
      if (at > end) break;
    }
  }

  async function* large(item: PlacedItem, place: number): AsyncGenerator<Buffer> {
    const content = item.offset + headerLength(Buffer.byteLength(item.name), true);
    yield cut(localHeader(item, null), item.offset);
    if (touches(content, item.size)) {
      const first = Math.max(0, start - content);
      let [crc, position] = [0, first];
      for await (const piece of bytesOf(item, first)) {
        if (first === 0) crc = crc32(piece, crc);
        yield cut(piece, content + position);
        position += piece.length;
        if (first === 0 && position === item.size) sums.set(place, item, crc);
        if (content + position > end) break;
      }
    }
    const after = content + item.size;
    if (end >= after) yield cut(descriptor({ crc: await sumOf(item, place), size: item.size }), after);
  }

  /** The directory at the end. Of an entry that is not wanted nothing is computed: its file would have to be read for its sum. */
  async function* directory(): AsyncGenerator<Buffer> {
    let [at, length, pieces]: [number, number, Buffer[]] = [plan.directory.offset, 0, []];
    for (const [place, item] of plan.items.entries()) {
      const entryLength = centralLength(Buffer.byteLength(item.name), item.size, item.offset);
      if (at + length > end) break;
      if (at + entryLength <= start) {
        at += entryLength;
        continue;
      }
      pieces.push(centralEntry(item, { crc: await sumOf(item, place), size: item.size }, item.offset, hasDescriptor(item)));
      length += entryLength;
      if (length < directoryPiece) continue;
      yield cut(Buffer.concat(pieces), at);
      [at, length, pieces] = [at + length, 0, []];
    }
    yield cut(Buffer.concat(pieces), at);
    const tail = endOfArchive(plan.items.length, plan.directory.length, plan.directory.offset);
    yield cut(tail, plan.directory.offset + plan.directory.length);
  }

  async function* all(): AsyncGenerator<Buffer> {
    for (const [place, item] of plan.items.entries()) {
      const after = plan.items[place + 1]?.offset ?? plan.directory.offset;
      if (!touches(item.offset, after - item.offset)) continue;
      if (hasDescriptor(item)) yield* large(item, place);
      else if (item.size > room.size()) yield* smallInPieces(item, place);
      else yield cut(await small(item, place), item.offset);
    }
    if (end >= plan.directory.offset) yield* directory();
  }

  try {
    for await (const piece of all()) if (piece.length > 0) yield piece;
  } catch (cause) {
    throw cause instanceof StorageAway ? new ArchiveChanged('the storage is away', { cause }) : cause;
  }
}
