import { Duplex } from 'node:stream';
import { DirectoryUnavailable } from '#ports/directory.ts';
import { contentRange, hasMoreElements } from './ber.ts';

/** Limits of what a directory sends on one connection: the library keeps what arrives without a limit. */
const limits = { bytes: 4 << 20, message: 1 << 19, messages: 10_000, elements: 10_000 };
const maxHeader = 6; // bytes of the tag and the length of a message
/** Pieces that may arrive: a directory that sends byte by byte costs much more than the bytes themselves. */
const allowedPieces = (bytes: number) => 2000 + bytes / 32;

/**
 * A socket that passes on the messages of a directory one by one, each in one piece. The library joins and reads its
 * pieces in a time that grows with the square of their number, and calls itself for each further message in a piece.
 */
export class MessageSocket extends Duplex {
  /** The library checks this before it sends. */
  readonly readyState = 'open';
  readonly #socket: Duplex;
  #pieces: Buffer[] = [];
  #length = 0; // of the pieces
  /** Length of the message that arrives; null: its header is not complete. */
  #expected: number | null = null;
  readonly #received = { bytes: 0, messages: 0, pieces: 0 };

  constructor(socket: Duplex) {
    super({ readableObjectMode: true }); // the messages are not joined again
    this.#socket = socket;
    socket.on('data', (piece: Buffer) => this.#receive(piece));
    socket.on('end', () => this.push(null));
    socket.on('error', (cause) => this.destroy(cause));
    socket.on('close', () => this.destroy());
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (cause?: Error | null) => void): void {
    this.#socket.write(bytes, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(cause: Error | null, done: (cause: Error | null) => void): void {
    this.#socket.destroy();
    done(cause);
  }

  #receive(piece: Buffer): void {
    const { bytes, pieces } = this.#received;
    Object.assign(this.#received, { bytes: bytes + piece.length, pieces: pieces + 1 });
    this.#pieces.push(piece);
    this.#length += piece.length;
    try {
      this.#checkLimits();
      while (!this.destroyed && this.#passMessage());
    } catch (cause) {
      this.destroy(cause instanceof Error ? cause : undefined);
    }
  }

  /** Passes the next message on. @returns false if it is not complete @throws DirectoryUnavailable */
  #passMessage(): boolean {
    this.#expected ??= this.#expectedLength();
    if (this.#expected === null || this.#length < this.#expected) return false;
    const bytes = this.#joinPieces();
    const rest = bytes.subarray(this.#expected);
    this.#received.messages += 1;
    this.#checkLimits();
    const message = bytes.subarray(0, this.#expected);
    // A thousand groups are a thousand elements; the library creates an object for each.
    if (hasMoreElements(message, limits.elements)) throw new DirectoryUnavailable('The directory sent a message with too many elements.');
    this.push(message);
    [this.#pieces, this.#length, this.#expected] = [[rest], rest.length, null];
    return rest.length > 0;
  }

  #expectedLength(): number | null {
    const [first] = this.#pieces;
    const header = first && first.length >= maxHeader ? first : this.#joinPieces();
    const length = contentRange(header, 0)?.end ?? null;
    if (length !== null && length > limits.message) throw new DirectoryUnavailable('The directory sent too long a message.');
    return length;
  }

  #joinPieces(): Buffer {
    const [first] = this.#pieces;
    return this.#pieces.length === 1 && first ? first : Buffer.concat(this.#pieces);
  }

  #checkLimits(): void {
    const { bytes, messages, pieces } = this.#received;
    if (bytes > limits.bytes || messages > limits.messages || pieces > allowedPieces(bytes))
      throw new DirectoryUnavailable('The directory sent too much.');
  }
}
