/** A file that is read piece by piece. */
class PieceReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  /** Bytes that were read and not used. */
  #rest: Uint8Array = new Uint8Array();

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** Returns the bytes that were read and not used. Reads more if there are none. Empty: the file has ended. */
  async rest(): Promise<Uint8Array> {
    while (this.#rest.length === 0) {
      const next = await this.#pieces.next();
      if (next.done) break;
      this.#rest = next.value;
    }
    return this.#rest;
  }

  use(length: number): void {
    this.#rest = this.#rest.subarray(length);
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}

/** Returns whether two files have the same first bytes. Reads both side by side, only until they differ. @param size number of bytes */
export async function haveSameBeginning(one: AsyncIterable<Uint8Array>, other: AsyncIterable<Uint8Array>, size: number): Promise<boolean> {
  const readers = [new PieceReader(one), new PieceReader(other)] as const;
  try {
    for (let missing = size; missing > 0; ) {
      const [first, second] = [await readers[0].rest(), await readers[1].rest()];
      const length = Math.min(first.length, second.length, missing);
      if (length === 0 || Buffer.compare(first.subarray(0, length), second.subarray(0, length)) !== 0) return false;
      for (const reader of readers) reader.use(length);
      missing -= length;
    }
    return true;
  } finally {
    await Promise.all(readers.map((reader) => reader.close()));
  }
}
