import { crc32 } from 'node:zlib';
import { readInto } from '#features/visits/files/read-range.ts';
import { ItemChanged, type OpenFile, StorageUnavailable } from '#ports/storage.ts';
import type { PlanInUse, RunningChecksum } from './archive-plans.ts';
import type { PieceMemory } from './piece-memory.ts';
import { bufferOf, reusedBuffer } from './reused-buffer.ts';
import { centralEntry, centralLength, descriptor, endOfArchive, headerLength, localHeader } from './zip-format.ts';
import { hasDescriptor, type PlacedItem } from './zip-plan.ts';

const directoryPieceSize = 1 << 16; // bytes
const checksumSliceSize = 1 << 26; // bytes: take a tenth of a second or more

/** A range of an archive's bytes. */
export interface ArchiveRange {
  /** First and last byte, both inclusive. */
  readonly start: number;
  readonly end: number;
  /** Called while bytes are read but none can be sent. @throws if the client no longer waits */
  readonly onRead: () => void;
}

/** A file has changed since the archive was planned: the response must be cut off. */
class ArchiveChanged extends Error {}

/** Yields a byte range of a planned archive in pieces. The memory of a piece may be reused for the next one. */
export async function* zipRange(
  { plan, checksums, runInTurn }: Pick<PlanInUse, 'plan' | 'checksums' | 'runInTurn'>,
  open: (item: PlacedItem) => Promise<OpenFile | null>,
  { start, end, onRead }: ArchiveRange,
  pieceMemory: Pick<PieceMemory, 'size'>,
): AsyncGenerator<Buffer> {
  /** Returns the part of a piece that is in the range. @param offset position of the piece in the archive */
  const cut = (piece: Buffer, offset: number) => piece.subarray(Math.max(0, start - offset), Math.max(0, end + 1 - offset));
  const getBuffer = reusedBuffer();
  const isInRange = (offset: number, length: number) => offset <= end && offset + length > start;

  async function openUnchanged(item: PlacedItem): Promise<OpenFile> {
    const file = await open(item);
    if (file?.entry.etag === item.etag) return file;
    await file?.close();
    throw new ArchiveChanged(item.name);
  }

  /** Yields the bytes of a file from a position up to its planned size. Bytes that were appended since are ignored. */
  async function* readFrom(item: PlacedItem, from: number): AsyncGenerator<Buffer> {
    const file = await openUnchanged(item);
    try {
      for await (const piece of file.read({ start: from, end: item.size - 1 })) yield bufferOf(piece);
    } finally {
      await file.close();
    }
  }

  /** Reads a file only to compute its checksum, one slice per turn. @param listeners called after every piece */
  async function readChecksum(item: PlacedItem, index: number, listeners: ReadonlySet<() => void>): Promise<number> {
    let [crc, position] = [0, 0];
    const readSlice = async () => {
      const sliceEnd = position + checksumSliceSize;
      for await (const piece of readFrom(item, position)) {
        onRead();
        for (const listener of listeners) listener();
        crc = crc32(piece, crc);
        position += piece.length;
        if (position >= sliceEnd) break;
      }
    };
    while (position < item.size) await runInTurn(readSlice);
    checksums.set(index, item, crc);
    return crc;
  }

  /** Waits for a checksum that another request computes. That request may end before it is done. */
  async function waitForChecksum({ checksum: sum, pieceListeners: listeners }: RunningChecksum): Promise<void> {
    const clientGone = Promise.withResolvers<never>();
    const listener = () => {
      try {
        onRead();
      } catch (cause) {
        clientGone.reject(cause);
      }
    };
    listeners.add(listener);
    try {
      await Promise.race([sum.catch(() => {}), clientGone.promise]);
    } finally {
      listeners.delete(listener);
    }
  }

  /** Returns the checksum of a file; reads the file if the checksum is not cached. */
  async function checksumOf(item: PlacedItem, index: number): Promise<number> {
    for (;;) {
      const cached = item.size === 0 ? 0 : checksums.get(index, item);
      if (cached !== undefined) return cached;
      onRead();
      const running = checksums.running.get(index);
      if (!running) break;
      await waitForChecksum(running);
    }
    const listeners = new Set<() => void>();
    const sum = readChecksum(item, index, listeners).finally(() => checksums.running.delete(index));
    checksums.running.set(index, { checksum: sum, pieceListeners: listeners });
    return sum;
  }

  /** Returns the header and the bytes of a small file in one piece. */
  async function smallFile(item: PlacedItem, index: number): Promise<Buffer> {
    if (item.size === 0) return localHeader(item, { crc: 0, size: 0 });
    const file = await openUnchanged(item);
    try {
      const header = headerLength(Buffer.byteLength(item.name), false);
      const piece = getBuffer(header + item.size);
      const content = piece.subarray(header);
      await readInto(file, { start: 0, end: item.size - 1 }, content);
      const crc = crc32(content);
      checksums.set(index, item, crc);
      localHeader(item, { crc, size: item.size }).copy(piece);
      return piece;
    } finally {
      await file.close();
    }
  }

  /** Yields a small file in pieces if there is no memory for all of it. Reads it twice, because its header holds its checksum. */
  async function* smallFilePieces(item: PlacedItem, index: number): AsyncGenerator<Buffer> {
    let crc = checksums.get(index, item);
    if (crc === undefined) {
      crc = 0;
      for await (const piece of readFrom(item, 0)) crc = crc32(piece, crc);
      checksums.set(index, item, crc);
    }
    const header = localHeader(item, { crc, size: item.size });
    yield cut(header, item.offset);
    let offset = item.offset + header.length;
    for await (const piece of readFrom(item, 0)) {
      yield cut(piece, offset);
      offset += piece.length;
      if (offset > end) break;
    }
  }

  async function* largeFilePieces(item: PlacedItem, index: number): AsyncGenerator<Buffer> {
    const contentOffset = item.offset + headerLength(Buffer.byteLength(item.name), true);
    yield cut(localHeader(item, null), item.offset);
    if (isInRange(contentOffset, item.size)) {
      const first = Math.max(0, start - contentOffset);
      let [crc, position] = [0, first];
      for await (const piece of readFrom(item, first)) {
        if (first === 0) crc = crc32(piece, crc);
        yield cut(piece, contentOffset + position);
        position += piece.length;
        if (first === 0 && position === item.size) checksums.set(index, item, crc);
        if (contentOffset + position > end) break;
      }
    }
    const descriptorOffset = contentOffset + item.size;
    if (end >= descriptorOffset) yield cut(descriptor({ crc: await checksumOf(item, index), size: item.size }), descriptorOffset);
  }

  /** Yields the central directory. Skips entries outside the range: to compute their checksums, their files may have to be read. */
  async function* directoryPieces(): AsyncGenerator<Buffer> {
    let [offset, length, entries]: [number, number, Buffer[]] = [plan.directory.offset, 0, []];
    for (const [index, item] of plan.items.entries()) {
      const entryLength = centralLength(Buffer.byteLength(item.name), item.size, item.offset);
      if (offset + length > end) break;
      if (offset + entryLength <= start) {
        offset += entryLength;
        continue;
      }
      entries.push(centralEntry(item, { crc: await checksumOf(item, index), size: item.size }, item.offset, hasDescriptor(item)));
      length += entryLength;
      if (length < directoryPieceSize) continue;
      yield cut(Buffer.concat(entries), offset);
      [offset, length, entries] = [offset + length, 0, []];
    }
    yield cut(Buffer.concat(entries), offset);
    const tail = endOfArchive(plan.items.length, plan.directory.length, plan.directory.offset);
    yield cut(tail, plan.directory.offset + plan.directory.length);
  }

  async function* archivePieces(): AsyncGenerator<Buffer> {
    for (const [index, item] of plan.items.entries()) {
      const itemEnd = plan.items[index + 1]?.offset ?? plan.directory.offset;
      if (!isInRange(item.offset, itemEnd - item.offset)) continue;
      if (hasDescriptor(item)) yield* largeFilePieces(item, index);
      else if (item.size > pieceMemory.size()) yield* smallFilePieces(item, index);
      else yield cut(await smallFile(item, index), item.offset);
    }
    if (end >= plan.directory.offset) yield* directoryPieces();
  }

  try {
    for await (const piece of archivePieces()) if (piece.length > 0) yield piece;
  } catch (cause) {
    if (cause instanceof ItemChanged) throw new ArchiveChanged('a file was truncated', { cause });
    throw cause instanceof StorageUnavailable ? new ArchiveChanged('the storage is unavailable', { cause }) : cause;
  }
}
