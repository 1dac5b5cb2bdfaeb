import { crc32 } from 'node:zlib';
import type { PlanInUse, RunningChecksum } from './archive-plans.ts';
import type { PlannedFiles } from './planned-files.ts';
import type { PlacedItem } from './zip-plan.ts';

const sliceSize = 1 << 26; // bytes; reading them takes a tenth of a second or more

/** Finds the checksums of the files of a planned archive: from the cache, from a request that reads the same file, or by reading it. */
export class ChecksumReader {
  readonly #plan: Pick<PlanInUse, 'checksums' | 'runInTurn'>;
  readonly #files: PlannedFiles;
  readonly #onRead: () => void;

  /** @param onRead called while bytes are read but none can be sent. It throws if the client no longer waits */
  constructor(plan: Pick<PlanInUse, 'checksums' | 'runInTurn'>, files: PlannedFiles, onRead: () => void) {
    this.#plan = plan;
    this.#files = files;
    this.#onRead = onRead;
  }

  /** Returns the checksum of a file. */
  async checksumOf(item: PlacedItem, index: number): Promise<number> {
    const { checksums } = this.#plan;
    for (;;) {
      const checksum = item.size === 0 ? 0 : checksums.get(index, item);
      if (checksum !== undefined) return checksum;
      this.#onRead();
      const running = checksums.running.get(index);
      if (!running) break;
      await this.#waitFor(running);
    }
    const listeners = new Set<() => void>();
    const sum = this.#read(item, index, listeners).finally(() => checksums.running.delete(index));
    checksums.running.set(index, { checksum: sum, pieceListeners: listeners });
    return sum;
  }

  /** Reads a file only to compute its checksum, one slice per turn. @param listeners called after every piece */
  async #read(item: PlacedItem, index: number, listeners: ReadonlySet<() => void>): Promise<number> {
    let [crc, position] = [0, 0];
    const readSlice = async () => {
      const sliceEnd = position + sliceSize;
      for await (const piece of this.#files.read(item, position)) {
        this.#onRead();
        for (const listener of listeners) listener();
        crc = crc32(piece, crc);
        position += piece.length;
        if (position >= sliceEnd) break;
      }
    };
    while (position < item.size) await this.#plan.runInTurn(readSlice);
    this.#plan.checksums.set(index, item, crc);
    return crc;
  }

  /** Waits for a checksum that another request computes. If that request ends first, the caller tries again. */
  async #waitFor({ checksum, pieceListeners }: RunningChecksum): Promise<void> {
    const clientGone = Promise.withResolvers<never>();
    const listener = () => {
      try {
        this.#onRead();
      } catch (cause) {
        clientGone.reject(cause);
      }
    };
    pieceListeners.add(listener);
    try {
      await Promise.race([checksum.catch(() => {}), clientGone.promise]);
    } finally {
      pieceListeners.delete(listener);
    }
  }
}
