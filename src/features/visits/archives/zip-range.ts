import { crc32 } from 'node:zlib';
import { readInto } from '#features/visits/files/read-range.ts';
import type { OpenFile } from '#ports/storage.ts';
import type { PlanInUse } from './archive-plans.ts';
import { ChecksumReader } from './checksum-reader.ts';
import { OpenAhead } from './open-ahead.ts';
import type { PieceMemory } from './piece-memory.ts';
import { archiveReadError, PlannedFiles } from './planned-files.ts';
import { reusedBuffer } from './reused-buffer.ts';
import { centralEntry, centralLength, descriptor, endOfArchive, headerLength, localHeader } from './zip-format.ts';
import { hasDescriptor, type PlacedItem } from './zip-plan.ts';
import { type ReadRun, ZipRuns } from './zip-runs.ts';

const directoryPieceSize = 1 << 16; // bytes

export interface ArchiveRange {
  /** First and last byte, both inclusive. */
  readonly start: number;
  readonly end: number;
  /** Called while bytes are read but none can be sent. @throws if the client no longer waits */
  readonly onRead: () => void;
}

type PlanParts = Pick<PlanInUse, 'plan' | 'checksums' | 'runInTurn'>;

/** Writes a byte range of a planned archive. */
class RangeWriter {
  readonly #plan: PlanParts;
  readonly #files: PlannedFiles;
  readonly #checksums: ChecksumReader;
  readonly #runs: ZipRuns | null;
  readonly #range: ArchiveRange;
  readonly #pieceMemory: Pick<PieceMemory, 'size'>;
  readonly #getBuffer = reusedBuffer();

  constructor(plan: PlanParts, files: PlannedFiles, readRun: ReadRun | null, range: ArchiveRange, pieceMemory: Pick<PieceMemory, 'size'>) {
    this.#plan = plan;
    this.#runs = readRun && new ZipRuns(plan, readRun, range, pieceMemory);
    this.#files = files;
    this.#checksums = new ChecksumReader(plan, files, range.onRead);
    this.#range = range;
    this.#pieceMemory = pieceMemory;
  }

  async *pieces(): AsyncGenerator<Buffer> {
    const { items, directory } = this.#plan.plan;
    let runEnd = 0;
    for (const [index, item] of items.entries()) {
      const itemEnd = items[index + 1]?.offset ?? directory.offset;
      if (index < runEnd || !this.#isInRange(item.offset, itemEnd - item.offset)) continue;
      const run = await this.#runs?.read(index);
      if (run) {
        runEnd = run.end;
        yield run.piece;
      } else if (hasDescriptor(item)) yield* this.#largeFile(item, index);
      else if (item.size > this.#pieceMemory.size()) yield* this.#smallFileInPieces(item, index);
      else yield this.#cut(await this.#smallFile(item, index), item.offset);
    }
    if (this.#range.end >= directory.offset) yield* this.#directory();
  }

  /** Returns the header and the bytes of a small file in one piece. */
  async #smallFile(item: PlacedItem, index: number): Promise<Buffer> {
    if (item.size === 0) return localHeader(item, { crc: 0, size: 0 });
    const file = await this.#files.open(item);
    try {
      const header = headerLength(Buffer.byteLength(item.name), false);
      const piece = this.#getBuffer(header + item.size);
      const content = piece.subarray(header);
      await readInto(file, { start: 0, end: item.size - 1 }, content);
      const crc = crc32(content);
      this.#plan.checksums.set(index, item, crc);
      localHeader(item, { crc, size: item.size }).copy(piece);
      return piece;
    } finally {
      await file.close();
    }
  }

  /** Yields a small file in pieces, because it is larger than a piece may be now. First reads it for its checksum, if that is not known. */
  async *#smallFileInPieces(item: PlacedItem, index: number): AsyncGenerator<Buffer> {
    const { checksums } = this.#plan;
    let crc = checksums.get(index, item);
    if (crc === undefined) {
      crc = 0;
      for await (const piece of this.#files.read(item, 0)) crc = crc32(piece, crc);
      checksums.set(index, item, crc);
    }
    const header = localHeader(item, { crc, size: item.size });
    yield this.#cut(header, item.offset);
    let offset = item.offset + header.length;
    for await (const piece of this.#files.read(item, 0)) {
      yield this.#cut(piece, offset);
      offset += piece.length;
      if (offset > this.#range.end) break;
    }
  }

  async *#largeFile(item: PlacedItem, index: number): AsyncGenerator<Buffer> {
    const { start, end } = this.#range;
    const contentOffset = item.offset + headerLength(Buffer.byteLength(item.name), true);
    yield this.#cut(localHeader(item, null), item.offset);
    if (this.#isInRange(contentOffset, item.size)) {
      const first = Math.max(0, start - contentOffset);
      let [crc, position] = [0, first];
      for await (const piece of this.#files.read(item, first)) {
        if (first === 0) crc = crc32(piece, crc);
        yield this.#cut(piece, contentOffset + position);
        position += piece.length;
        if (first === 0 && position === item.size) this.#plan.checksums.set(index, item, crc);
        if (contentOffset + position > end) break;
      }
    }
    const descriptorOffset = contentOffset + item.size;
    if (end < descriptorOffset) return;
    yield this.#cut(descriptor({ crc: await this.#checksums.checksumOf(item, index), size: item.size }), descriptorOffset);
  }

  /** Yields the central directory and the end records. Skips entries outside the range: their checksums may require reading files. */
  async *#directory(): AsyncGenerator<Buffer> {
    const { items, directory } = this.#plan.plan;
    let [offset, length, entries]: [number, number, Buffer[]] = [directory.offset, 0, []];
    for (const [index, item] of items.entries()) {
      const entryLength = centralLength(Buffer.byteLength(item.name), item.size, item.offset);
      if (offset + length > this.#range.end) break;
      if (length === 0 && offset + entryLength <= this.#range.start) {
        offset += entryLength;
        continue;
      }
      const crc = await this.#checksums.checksumOf(item, index);
      entries.push(centralEntry(item, { crc, size: item.size }, item.offset, hasDescriptor(item)));
      length += entryLength;
      if (length < directoryPieceSize) continue;
      yield this.#cut(Buffer.concat(entries), offset);
      [offset, length, entries] = [offset + length, 0, []];
    }
    yield this.#cut(Buffer.concat(entries), offset);
    yield this.#cut(endOfArchive(items.length, directory.length, directory.offset), directory.offset + directory.length);
  }

  /** Returns the part of a piece that is in the range. @param offset position of the piece in the archive */
  #cut(piece: Buffer, offset: number): Buffer {
    const { start, end } = this.#range;
    return piece.subarray(Math.max(0, start - offset), Math.max(0, end + 1 - offset));
  }

  #isInRange(offset: number, length: number): boolean {
    return offset <= this.#range.end && offset + length > this.#range.start;
  }
}

const openFileMemory = 1 << 17; // bytes of memory that a file needs while it is open

/**
 * Yields a byte range of a planned archive in pieces. The memory of a piece may be reused for the next one.
 * @param storage `open` opens a file of the plan; while one is sent, at most `openAhead` further files are opened. `readRun` reads several
 *   small files at once; null: they are opened one by one
 */
export async function* zipRange(
  plan: PlanParts,
  storage: { readonly open: (item: PlacedItem) => Promise<OpenFile | null>; readonly openAhead: number; readonly readRun: ReadRun | null },
  range: ArchiveRange,
  pieceMemory: Pick<PieceMemory, 'size'>,
): AsyncGenerator<Buffer> {
  const inRange = ({ offset, size }: PlacedItem) => size > 0 && offset <= range.end && offset + size > range.start;
  const count = () => Math.min(storage.openAhead, Math.floor((2 * pieceMemory.size()) / openFileMemory));
  const ahead = new OpenAhead(storage.openAhead === 0 ? [] : plan.plan.items.filter(inRange), storage.open, count);
  const files = new PlannedFiles((item) => ahead.open(item));
  try {
    for await (const piece of new RangeWriter(plan, files, storage.readRun, range, pieceMemory).pieces()) if (piece.length > 0) yield piece;
  } catch (cause) {
    throw archiveReadError(cause);
  } finally {
    ahead.close();
  }
}
