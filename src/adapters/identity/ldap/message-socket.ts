import { Duplex } from 'node:stream';
import type { TenantTurns } from '#adapters/os/tenant-turns.ts';
import { DirectoryUnavailable } from '#ports/directory.ts';
import { contentRange, countElements } from './ber.ts';

/** Limits for one connection, because the LDAP library buffers each response. `message`: bytes of one message. */
const limits = { bytes: 2 << 20, message: 1 << 18, messages: 10_000, elements: 20_000 };
const maxElements = 4000; // of one message, because the library creates an object for each. A thousand groups are a thousand elements
const maxHeader = 6; // bytes of the tag and the length of a message
/** Returns how many pieces may arrive: many short pieces take much more time than the same bytes in a few pieces. */
const allowedPieces = (bytes: number) => 2000 + bytes / 32;

/**
 * A socket that passes on the messages of a directory one by one, each in one piece. In the LDAP library, the time to join the
 * pieces of a message grows with the square of their number, and the parser recurses for each further message in a piece.
 */
export class MessageSocket extends Duplex {
  /** Without this value, the library would wait for the event `connect`. */
  readonly readyState = 'open';
  readonly #socket: Duplex;
  readonly #turns: TenantTurns;
  readonly #tid: number;
  #pieces: Buffer[] = [];
  #length = 0; // of the pieces
  /** Length of the message that is being received; null: its header is not complete. */
  #expected: number | null = null;
  /** Whether a complete message waits for its turn. */
  #isWaiting = false;
  /** Functions to call when no complete message waits any more. */
  #callbacks: (() => void)[] = [];
  readonly #received = { bytes: 0, messages: 0, pieces: 0, elements: 0 };

  /** @param turns in which the messages are parsed @param tid tenant of the directory */
  constructor(socket: Duplex, turns: TenantTurns, tid: number) {
    super({ readableObjectMode: true }); // the messages are not joined again
    this.#socket = socket;
    this.#turns = turns;
    this.#tid = tid;
    socket.on('data', (piece: Buffer) => this.#receive(piece));
    socket.on('end', () => this.#afterMessages(() => this.push(null)));
    socket.on('error', (cause) => this.destroy(cause));
    socket.on('close', () => this.#afterMessages(() => this.destroy()));
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
    this.#destroyOnError(() => {
      this.#checkLimits();
      if (this.#isWaiting || !this.#isComplete()) return;
      this.#socket.pause(); // nothing more arrives while messages wait
      this.#waitForTurn();
    });
  }

  #destroyOnError(work: () => void): void {
    try {
      work();
    } catch (cause) {
      this.destroy(cause instanceof Error ? cause : undefined);
    }
  }

  /** Returns whether the next message is complete. @throws DirectoryUnavailable */
  #isComplete(): boolean {
    this.#expected ??= this.#expectedLength();
    return this.#expected !== null && this.#length >= this.#expected;
  }

  #waitForTurn(): void {
    this.#isWaiting = true;
    this.#turns.add(this.#tid, () => {
      this.#isWaiting = false;
      if (!this.destroyed) this.#destroyOnError(() => this.#passMessage());
    });
  }

  /** Passes the next message on. If another one is complete, waits for its turn, else continues reading. @throws DirectoryUnavailable */
  #passMessage(): void {
    const bytes = this.#joinPieces();
    const length = this.#expected ?? 0;
    const [message, rest] = [bytes.subarray(0, length), bytes.subarray(length)];
    this.#received.messages += 1;
    const elements = countElements(message, maxElements);
    if (elements > maxElements) throw new DirectoryUnavailable('The directory sent a message with too many elements.');
    this.#received.elements += elements;
    this.#checkLimits();
    [this.#pieces, this.#length, this.#expected] = [[rest], rest.length, null];
    this.push(message);
    if (this.destroyed) return;
    if (this.#isComplete()) this.#waitForTurn();
    else this.#continueReading();
  }

  #continueReading(): void {
    this.#socket.resume();
    const callbacks = this.#callbacks;
    this.#callbacks = [];
    for (const run of callbacks) run();
  }

  /** Calls a function after all received messages are passed on: the connection can end while they wait for their turn. */
  #afterMessages(run: () => void): void {
    if (this.#isWaiting) this.#callbacks.push(run);
    else run();
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
    const { bytes, messages, pieces, elements } = this.#received;
    if (bytes > limits.bytes || messages > limits.messages || elements > limits.elements || pieces > allowedPieces(bytes))
      throw new DirectoryUnavailable('The directory sent too much.');
  }
}
