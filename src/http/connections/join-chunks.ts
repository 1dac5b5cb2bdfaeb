import { IncomingMessage } from 'node:http';

const smallest = 512; // bytes: a larger piece is handed on as it is
const room = 1 << 11; // bytes

/**
 * A request that joins the small pieces of its body. A chunk may hold one byte, and takes 400 bytes of memory where it
 * waits alone: the queue of a stream is bounded by the bytes in it, not by their number of pieces.
 */
export class JoinedRequest extends IncomingMessage {
  #joined: Buffer | null = null; // is used again and again
  #used = 0;
  #isDue = false;

  /** Node.js calls it with each piece, and with null at the end. @returns false where no more is wanted for now */
  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    if (piece === null || piece.length >= smallest || this.#isWholeBody(piece)) {
      this.#handOn();
      return super.push(piece, encoding);
    }
    if (this.#used + piece.length > room) this.#handOn();
    this.#joined ??= Buffer.allocUnsafe(room);
    this.#used += piece.copy(this.#joined, this.#used);
    if (!this.#isDue) setImmediate(() => this.#handOnDue());
    this.#isDue = true;
    return this.readableLength + this.#used < this.readableHighWaterMark;
  }

  #isWholeBody(piece: Buffer): boolean {
    return Number(this.headers['content-length']) === piece.length;
  }

  #handOnDue(): void {
    this.#isDue = false;
    this.#handOn();
  }

  #handOn(): void {
    if (this.#joined === null || this.#used === 0) return;
    const piece = Buffer.from(this.#joined.subarray(0, this.#used)); // a copy: one byte keeps no more than itself
    this.#used = 0;
    super.push(piece);
  }
}
