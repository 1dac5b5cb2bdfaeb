import { crc32 } from 'node:zlib';
import { type OpenFile, StorageAway } from '#ports/storage.ts';
import type { Checksums } from './zip-checksums.ts';
import { centralEntry, descriptor, endOfArchive, localHeader } from './zip-format.ts';
import { type PlacedItem, readWholeUpTo, type ZipPlan } from './zip-plan.ts';
import { fillFrom } from './zip-reading.ts';

const pieceSize = 1 << 19; // bytes
const directoryPiece = 1 << 16;

/** Opens a file of the plan. */
export type OpenPlanned = (item: PlacedItem) => Promise<OpenFile | null>;

/** First and last byte wanted, both inclusive. */
interface Wanted {
  readonly start: number;
  readonly end: number;
}

/** The archive is no longer what was promised: what is sent has to break off. */
export class ArchiveChanged extends Error {}

const isFollowed = ({ found }: PlacedItem) => found.entry.size > readWholeUpTo;

/** The bytes of a plan between two places, as pieces that are written one after another; each may be used again then. */
export async function* zipRange(plan: ZipPlan, sums: Checksums, open: OpenPlanned, { start, end }: Wanted): AsyncGenerator<Buffer> {
  /** What of a piece that begins at a place is wanted. */
  const cut = (piece: Buffer, at: number) => piece.subarray(Math.max(0, start - at), Math.max(0, end + 1 - at));
  const touches = (from: number, length: number) => from <= end && from + length > start;

  async function opened(item: PlacedItem): Promise<OpenFile> {
    const file = await open(item);
    if (file?.entry.etag === item.found.entry.etag) return file;
    await file?.close();
    throw new ArchiveChanged(item.name);
  }

  /** The sum of a file, which is read for it where it was not read before. */
  async function sumOf(item: PlacedItem, place: number): Promise<number> {
    const known = sums.get(place);
    if (known !== undefined || item.found.entry.size === 0) return known ?? 0;
    const file = await opened(item);
    try {
      const piece = Buffer.allocUnsafe(Math.min(pieceSize, item.found.entry.size));
      let crc = 0;
      for (let position = 0; position < item.found.entry.size; ) {
        const read = await fillFrom(file, piece, position);
        if (read === 0) throw new ArchiveChanged(item.name);
        crc = crc32(piece.subarray(0, read), crc);
        position += read;
      }
      sums.set(place, crc);
      return crc;
    } finally {
      await file.close();
    }
  }

  /** A small file's header and bytes, in one piece. */
  async function small(item: PlacedItem, place: number): Promise<Buffer> {
    const { size } = item.found.entry;
    if (size === 0) return localHeader(item, { crc: 0, size });
    const file = await opened(item);
    try {
      const whole = Buffer.allocUnsafe(item.headerLength + size);
      const content = whole.subarray(item.headerLength);
      if ((await fillFrom(file, content, 0)) < size) throw new ArchiveChanged(item.name);
      const crc = crc32(content);
      sums.set(place, crc);
      localHeader(item, { crc, size }).copy(whole);
      return whole;
    } finally {
      await file.close();
    }
  }

  async function* large(item: PlacedItem, place: number): AsyncGenerator<Buffer> {
    const { size } = item.found.entry;
    const content = item.offset + item.headerLength;
    yield cut(localHeader(item, null), item.offset);
    if (touches(content, size)) {
      const file = await opened(item);
      try {
        const piece = Buffer.allocUnsafe(pieceSize);
        const first = Math.max(0, start - content);
        let crc = 0;
        for (let position = first; position < size && content + position <= end; ) {
          const read = await fillFrom(file, piece, position);
          if (read === 0) throw new ArchiveChanged(item.name);
          const part = piece.subarray(0, read);
          if (first === 0) crc = crc32(part, crc);
          yield cut(part, content + position);
          position += read;
          if (first === 0 && position === size) sums.set(place, crc);
        }
      } finally {
        await file.close();
      }
    }
    if (end >= content + size) yield cut(descriptor({ crc: await sumOf(item, place), size }), content + size);
  }

  async function* directory(): AsyncGenerator<Buffer> {
    let [at, length, pieces]: [number, number, Buffer[]] = [plan.directory.offset, 0, []];
    for (const [place, item] of plan.items.entries()) {
      const entry = centralEntry(item, { crc: await sumOf(item, place), size: item.found.entry.size }, item.offset, isFollowed(item));
      pieces.push(entry);
      length += entry.length;
      if (length < directoryPiece) continue;
      yield cut(Buffer.concat(pieces), at);
      [at, length, pieces] = [at + length, 0, []];
    }
    const tail = endOfArchive(plan.items.length, plan.directory.length, plan.directory.offset);
    yield cut(Buffer.concat([...pieces, tail]), at);
  }

  async function* all(): AsyncGenerator<Buffer> {
    for (const [place, item] of plan.items.entries()) {
      const after = plan.items[place + 1]?.offset ?? plan.directory.offset;
      if (!touches(item.offset, after - item.offset)) continue;
      if (isFollowed(item)) yield* large(item, place);
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
