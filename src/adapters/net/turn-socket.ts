import { Socket } from 'node:net';
import { ResponseTooLarge } from '#ports/outbound.ts';

/** Bytes of a response that may be headers, and how many of them are parsed in one turn: thousands of headers take milliseconds. */
const [headLength, headSlice] = [1 << 16, 1 << 12];

/** Bytes that may wait to be sent. If more wait, received bytes are not passed on, because TLS may respond to them with further bytes. */
const maxUnsent = 8 << 20;

/**
 * A connection whose bytes arrive in turns, so that all work on the data of a tenant's server (TLS
 * decryption, parsing of headers, and what follows) is done in the turns of the tenant.
 */
export class TurnSocket extends Socket {
  readonly #socket: Socket;
  readonly #addTurn: (work: () => void) => void;
  /** Bytes that wait for their turn. */
  #waiting: Buffer | null = null;
  #passedOn = 0; // bytes since the last write
  #hasEnded = false;
  readonly #maxBytes: number;
  #received = 0; // bytes
  #handshakeLimit: number | null = null; // bytes

  /**
   * @param addTurn calls `work` when it is the turn of this connection, or of the tenant that it belongs to
   * @param maxBytes bytes that may arrive on the connection, including those outside of bodies,
   *   such as chunk extensions; null: no limit
   */
  constructor(socket: Socket, addTurn: (work: () => void) => void, maxBytes: number | null = null) {
    super();
    this.#maxBytes = maxBytes ?? Number.POSITIVE_INFINITY;
    this.#socket = socket;
    this.#addTurn = addTurn;
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('end', () => {
      this.#hasEnded = true;
      if (this.#waiting === null) this.push(null);
    });
    socket.on('error', (cause) => this.destroy(cause));
    socket.on('close', () => this.#waiting === null && this.destroy());
  }

  override ref(): this {
    this.#socket.ref();
    return this;
  }

  override unref(): this {
    this.#socket.unref();
    return this;
  }

  override _read(): void {
    if (this.#waiting === null) this.#socket.resume();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (cause?: Error | null) => void): void {
    this.#passedOn = 0;
    this.#socket.write(bytes, done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: (cause?: Error | null) => void): void {
    this.#passedOn = 0;
    this.#socket.cork();
    for (const { chunk } of chunks.slice(0, -1)) this.#socket.write(chunk);
    this.#socket.write(chunks.at(-1)?.chunk ?? '', done);
    this.#socket.uncork();
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  /** Closes the connection at once, and drops all bytes that were not delivered yet. */
  override resetAndDestroy(): this {
    this.#socket.resetAndDestroy();
    return this.destroy();
  }

  override _destroy(cause: Error | null, done: (cause: Error | null) => void): void {
    this.#socket.destroy();
    done(cause);
    process.nextTick(() => this.emit('close', cause !== null)); // a `Socket` without a handle does not emit it by itself
  }

  /**
   * Must be called when TLS has been started on this connection.
   * @param maxBytes bytes that may arrive until `endHandshake`
   */
  beginHandshake(maxBytes: number): void {
    this.#handshakeLimit = this.#received + maxBytes;
    process.nextTick(() => this.emit('connect')); // TLS waits for this event, because the socket has no handle of the operating system
  }

  endHandshake(): void {
    this.#handshakeLimit = null;
  }

  #receive(bytes: Buffer): void {
    this.#received += bytes.length;
    if (this.#received > this.#maxBytes)
      return void this.destroy(new ResponseTooLarge(`the server sent more than ${this.#maxBytes} bytes`));
    if (this.#handshakeLimit !== null && this.#received > this.#handshakeLimit) {
      const cause = new Error('the server sends too much before the connection is encrypted');
      return void this.destroy(Object.assign(cause, { code: 'POSTERN_LONG_HANDSHAKE' }));
    }
    this.#socket.pause();
    this.#waiting = bytes;
    this.#addTurn(() => this.#passOn());
  }

  /** Passes on the bytes that wait, or their beginning. */
  #passOn(): void {
    const bytes = this.#waiting;
    if (this.destroyed || bytes === null) return;
    if (this.writableLength > maxUnsent) return void this.once('drain', () => this.#addTurn(() => this.#passOn()));
    const length = this.#passedOn < headLength ? Math.min(bytes.length, headSlice) : bytes.length;
    this.#passedOn += length;
    this.#waiting = length < bytes.length ? bytes.subarray(length) : null;
    const wantsMore = this.push(bytes.subarray(0, length));
    if (this.#waiting !== null) this.#addTurn(() => this.#passOn());
    else if (this.#hasEnded) this.push(null);
    else if (this.#socket.destroyed) this.destroy();
    else if (wantsMore) this.#socket.resume();
  }
}
