import { IncomingMessage } from './node-http.ts';

const smallPiece = 512; // bytes: a piece of this size or more is passed on unchanged
const bufferSize = 1 << 11; // bytes

/**
 * A request that joins the small pieces of its body. A waiting piece of one byte takes 400 bytes of memory, and the queue
 * of a stream is limited by its bytes, not by its number of pieces.
 */
export class JoinedRequest extends IncomingMessage {
  #buffer: Buffer | null = null; // reused
  #used = 0;
  #isFlushScheduled = false;
  /** Number of small pieces so far. */
  smallPieces = 0;

  /** Receives each piece from Node.js, and null at the end. @returns false if Node.js should stop reading for now */
  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    if (piece === null || piece.length >= smallPiece || this.#isEntireBody(piece)) {
      this.#flush();
      return super.push(piece, encoding);
    }
    this.smallPieces += 1;
    if (this.#used + piece.length > bufferSize) this.#flush();
    this.#buffer ??= Buffer.allocUnsafe(bufferSize);
    this.#used += piece.copy(this.#buffer, this.#used);
    if (!this.#isFlushScheduled) setImmediate(() => this.#flushScheduled());
    this.#isFlushScheduled = true;
    return this.readableLength + this.#used < this.readableHighWaterMark;
  }

  #isEntireBody(piece: Buffer): boolean {
    return Number(this.headers['content-length']) === piece.length;
  }

  #flushScheduled(): void {
    this.#isFlushScheduled = false;
    this.#flush();
  }

  #flush(): void {
    if (this.#buffer === null || this.#used === 0) return;
    const piece = Buffer.from(this.#buffer.subarray(0, this.#used)); // a copy: the buffer is reused
    this.#used = 0;
    super.push(piece);
  }
}
