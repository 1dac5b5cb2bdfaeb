import type { MemoryReservation } from '#core/memory-budget.ts';
import { StorageBusy } from '#ports/storage-errors.ts';

/** Bytes of a piece. Servers send up to this much in one message. */
export const pieceSize = 1 << 16;
const maxSize = 8; // pieces

/** The number of pieces of a file that may be requested, or wait for the reader, at a time. All but one take memory from a budget. */
export class ReadWindow implements Disposable {
  readonly #memory: MemoryReservation;
  /** Number of pieces. */
  size = 1;

  constructor(memory: MemoryReservation) {
    this.#memory = memory;
  }

  /** Adds a piece, if there is memory for it. */
  grow(): void {
    if (this.size === maxSize) return;
    try {
      this.#memory.set(this.size * pieceSize);
      this.size += 1;
    } catch (cause) {
      if (!(cause instanceof StorageBusy)) throw cause;
    }
  }

  shrink(): void {
    if (this.size === 1) return;
    this.size -= 1;
    this.#memory.set((this.size - 1) * pieceSize);
  }

  [Symbol.dispose](): void {
    this.#memory[Symbol.dispose]();
  }
}
