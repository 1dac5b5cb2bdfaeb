import type { FilledRun } from '#ports/file-runs.ts';
import type { PlanInUse } from './archive-plans.ts';
import type { PieceMemory } from './piece-memory.ts';
import { headerLength, localHeader } from './zip-format.ts';
import { hasDescriptor, type PlacedItem } from './zip-plan.ts';

const maxItems = 256; // a run of thousands of empty files would block the event loop while their headers are written

/** A file of a run, and the position of its first byte in the buffer. */
interface PlacedFile {
  readonly item: PlacedItem;
  readonly at: number;
}

/** Reads files into a buffer. After the call, the caller uses only the buffer in the result: it may be another object. */
export type ReadRun = (files: readonly PlacedFile[], buffer: ArrayBuffer) => Promise<FilledRun>;

/** Consecutive items of an archive, with the bytes of their files. */
interface Run {
  readonly first: number;
  /** Index after the last item. */
  readonly end: number;
  readonly piece: Promise<Buffer<ArrayBuffer>>;
}

/** Reads consecutive small items in the range that is sent together, as one run. While one run is sent, the next one is read. */
export class ZipRuns {
  readonly #plan: Pick<PlanInUse, 'plan' | 'checksums'>;
  readonly #readRun: ReadRun;
  readonly #range: { readonly start: number; readonly end: number };
  readonly #pieceMemory: Pick<PieceMemory, 'size'>;
  #ahead: Run | null = null;
  /** The buffer of the run that `read` returned last, for use in a later run; null: none is free. */
  #spare: ArrayBuffer | null = null;

  constructor(
    plan: Pick<PlanInUse, 'plan' | 'checksums'>,
    readRun: ReadRun,
    range: { readonly start: number; readonly end: number },
    pieceMemory: Pick<PieceMemory, 'size'>,
  ) {
    this.#plan = plan;
    this.#readRun = readRun;
    this.#range = range;
    this.#pieceMemory = pieceMemory;
  }

  /**
   * Reads the run that begins at an item. The piece of the previous run must not be used any more.
   * @returns its bytes, and the index after its last item; null: no run begins there
   * @throws ItemChanged if a file is gone or has changed; StorageUnavailable
   */
  async read(index: number): Promise<{ readonly piece: Buffer; readonly end: number } | null> {
    const run = this.#ahead?.first === index ? this.#ahead : this.#begin(index);
    if (!run) return null;
    this.#ahead = this.#begin(run.end);
    const piece = await run.piece;
    this.#spare = piece.buffer;
    return { piece, end: run.end };
  }

  #begin(first: number): Run | null {
    const maxLength = 2 ** Math.floor(Math.log2(this.#pieceMemory.size()));
    const end = this.#endOfRun(first, maxLength);
    if (end === first) return null;
    const buffer = this.#spare?.byteLength === maxLength ? this.#spare : new ArrayBuffer(maxLength);
    this.#spare = null;
    const piece = this.#fill(first, end, buffer);
    piece.catch(() => {}); // avoids an unhandled rejection if the caller does not request this run
    return { first, end, piece };
  }

  /** Returns the index after the last item of the run that begins at `first`; `first`: no run begins there. */
  #endOfRun(first: number, maxLength: number): number {
    const { items } = this.#plan.plan;
    const start = items[first]?.offset ?? 0;
    if (start < this.#range.start) return first;
    const lastEnd = Math.min(start + maxLength, this.#range.end + 1);
    let end = first;
    for (; end < Math.min(items.length, first + maxItems); end += 1) {
      const item = items[end];
      if (!item || hasDescriptor(item) || this.#offsetOf(end + 1) > lastEnd) break;
    }
    return end;
  }

  /** Reads the files of a run, and writes the headers between them. */
  async #fill(first: number, end: number, buffer: ArrayBuffer): Promise<Buffer<ArrayBuffer>> {
    const { plan, checksums } = this.#plan;
    const items = plan.items.slice(first, end);
    const start = this.#offsetOf(first);
    const files = items
      .filter(({ size }) => size > 0)
      .map((item) => ({ item, at: item.offset - start + headerLength(Buffer.byteLength(item.name), false) }));
    const filled = files.length === 0 ? { buffer, checksums: [] } : await this.#readRun(files, buffer);
    const piece = Buffer.from(filled.buffer, 0, this.#offsetOf(end) - start);
    const remaining = filled.checksums.values();
    for (const [index, item] of items.entries()) {
      const crc = item.size === 0 ? 0 : (remaining.next().value ?? 0);
      if (item.size > 0) checksums.set(first + index, item, crc);
      localHeader(item, { crc, size: item.size }).copy(piece, item.offset - start);
    }
    return piece;
  }

  /** Returns the position of an item in the archive; for the index after the last item, the position of the central directory. */
  #offsetOf(index: number): number {
    const { items, directory } = this.#plan.plan;
    return items[index]?.offset ?? directory.offset;
  }
}
