import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { networksOf } from '#core/client-networks.ts';
import { addCount, largestKey } from '#core/count-by-key.ts';
import { fairQueue } from '#core/fair-queue.ts';

const targetTime = 5; // ms of parsing in one iteration of the event loop, without the start of requests (request-turns.ts)
const defaultMaxWaiting = 64 << 20; // bytes that were read and are not parsed yet
const headSlice = 1024; // bytes: about forty short requests
const maxChunkSlice = 16_384; // bytes of a chunked body to parse in one slice, if parsing it was cheap so far
const [cheapSlice, costlySlice] = [0.25, 1]; // ms: after a cheaper slice, the next one is twice as long; after a costlier one, half as long

/** A connection, and the received bytes that are not parsed yet. */
interface Connection {
  readonly socket: Socket & { readonly _paused?: boolean };
  /** Parses bytes: the listener of Node.js. */
  readonly parse: (bytes: NonSharedBuffer) => void;
  readonly networks: readonly [wide: string, narrow: string];
  unparsed: NonSharedBuffer | null;
  isQueued: boolean;
  /** How many of its bytes are counted towards the limit. They stay counted until all of its bytes are parsed. */
  heldBytes: number;
  /** The newest request. */
  request: IncomingMessage | null;
  /**
   * Upper bound of the body's bytes that are not parsed yet: its first bytes may have been parsed with the head. null: a chunked body.
   * 0: no body is left, or it began before the connection took turns. The bytes of such a body are parsed `headSlice` at a time.
   */
  bodyLeft: number | null;
  chunkSlice: number;
}

const isBodyFull = ({ request }: Connection) =>
  request !== null && !request.complete && !request.destroyed && request.readableLength >= request.readableHighWaterMark;

/**
 * Returns whether nothing may be parsed for now: the client does not read its responses, or nobody reads the body of its request. Node.js
 * resumes the socket later.
 */
const awaitsReader = (connection: Connection) => connection.socket._paused === true || isBodyFull(connection);

/** Returns how many bytes of a chunked body to parse next. @param duration of parsing the last slice, in ms */
function nextSlice(slice: number, duration: number): number {
  if (duration < cheapSlice) return Math.min(2 * slice, maxChunkSlice);
  return duration > costlySlice ? Math.max(slice / 2, headSlice) : slice;
}

/**
 * Parses the bytes of connections a few milliseconds at a time; the networks take turns. Node.js would parse all that one read returns: up
 * to 64 KiB, such as 2,500 requests or 11,000 chunks of one byte, which take up to 50 ms. On hundreds of connections, they would delay all
 * other clients by seconds.
 */
export class ParseTurns {
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #queue = fairQueue<Connection>();
  /** Connections with unparsed bytes, in the order in which they began to wait. */
  readonly #waiting = new Set<Connection>();
  readonly #bytesByNetwork = new Map<string, number>();
  readonly #now: () => number;
  readonly #maxWaiting: number;
  /** Time spent so far on parsing in turns, in ms. */
  totalTime = 0;
  #bytes = 0;
  #isScheduled = false; // whether #runTurns will run after this iteration of the event loop
  #parseTime = 0; // ms in this iteration
  #startDuration = 0; // ms spent on starting requests during the current slice; not counted as parsing

  /** @param now returns a monotonic time in ms. @param maxWaiting bytes that may wait to be parsed */
  constructor(now: () => number, maxWaiting = defaultMaxWaiting) {
    this.#now = now;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * From now on, parses in turns what a connection receives.
   * @param request the newest one, whose body may still arrive
   */
  add(socket: Socket, request: IncomingMessage | null = null): void {
    const [parse] = socket.listeners('data');
    if (!parse || this.#connections.has(socket)) return;
    const networks = networksOf(socket.remoteAddress ?? '');
    const initialState = { unparsed: null, isQueued: false, heldBytes: 0, request, bodyLeft: 0, chunkSlice: headSlice };
    const connection: Connection = { socket, parse: parse.bind(socket), networks, ...initialState };
    this.#connections.set(socket, connection);
    socket.removeAllListeners('data');
    socket.on('data', (bytes: NonSharedBuffer) => this.#receive(connection, bytes));
    socket.on('resume', () => {
      if (!connection.unparsed) return;
      socket.pause(); // the reader of a body, or Node.js after its own pause, has resumed the socket
      this.#enqueue(connection);
    });
    socket.once('close', () => this.#drop(connection));
  }

  /**
   * Starts a new request, whose body must not be parsed faster than it is read.
   * @param start its duration does not count as parsing time
   */
  startRequest(request: IncomingMessage, start: () => void): void {
    const { socket, headers } = request;
    const connection = this.#connections.get(socket);
    if (!connection) return void start();
    connection.request = request;
    connection.bodyLeft = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
    const startedAt = this.#now();
    start();
    this.#startDuration += this.#now() - startedAt;
  }

  #receive(connection: Connection, bytes: NonSharedBuffer): void {
    if (connection.socket.writableEnded) return; // the last response has been sent
    connection.unparsed = connection.unparsed ? Buffer.concat([connection.unparsed, bytes]) : bytes;
    while (connection.unparsed && this.#hasTime() && !awaitsReader(connection)) this.#parseSlice(connection);
    if (!connection.unparsed) return;
    connection.socket.pause();
    this.#hold(connection);
    this.#enqueue(connection);
  }

  /**
   * Counts the bytes of a connection that waits. While all these bytes exceed the limit, closes a connection: of
   * the wide network that holds the most bytes, the connection that began to wait last.
   */
  #hold(connection: Connection): void {
    const bytes = (connection.unparsed?.length ?? 0) - connection.heldBytes;
    if (bytes <= 0) return;
    this.#waiting.add(connection);
    this.#count(connection, bytes);
    while (this.#bytes > this.#maxWaiting) {
      const largest = largestKey(this.#bytesByNetwork);
      const latest = [...this.#waiting].findLast(({ networks }) => networks[0] === largest);
      if (!latest) return;
      this.#drop(latest);
      latest.socket.destroy();
    }
  }

  #count(connection: Connection, bytes: number): void {
    connection.heldBytes += bytes;
    this.#bytes += bytes;
    addCount(this.#bytesByNetwork, connection.networks[0], bytes);
  }

  /** Stops counting the bytes of a connection, and discards those that are still unparsed: no response to them will be sent. */
  #drop(connection: Connection): void {
    connection.unparsed = null;
    if (this.#waiting.delete(connection)) this.#count(connection, -connection.heldBytes);
  }

  #enqueue(connection: Connection): void {
    this.#scheduleTurns();
    if (connection.isQueued || !connection.unparsed || awaitsReader(connection)) return;
    connection.isQueued = true;
    this.#queue.add(connection.networks, connection);
  }

  #scheduleTurns(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#runTurns());
  }

  #hasTime(): boolean {
    this.#scheduleTurns();
    return this.#parseTime < targetTime;
  }

  #runTurns(): void {
    [this.#isScheduled, this.#parseTime] = [false, 0];
    for (let next = this.#queue.take(); next; next = this.#queue.take()) {
      next.isQueued = false;
      if (next.unparsed && !awaitsReader(next)) this.#takeTurn(next);
      if (!this.#hasTime()) return;
    }
  }

  #takeTurn(connection: Connection): void {
    this.#scheduleTurns();
    this.#parseSlice(connection);
    if (connection.unparsed) this.#enqueue(connection);
    else if (!awaitsReader(connection)) connection.socket.resume();
  }

  #parseSlice(connection: Connection): void {
    const { socket, parse, unparsed, bodyLeft, chunkSlice } = connection;
    if (!unparsed) return;
    const length = Math.min(unparsed.length, bodyLeft === null ? chunkSlice : Math.max(headSlice, bodyLeft));
    const isLast = length === unparsed.length;
    connection.unparsed = isLast ? null : unparsed.subarray(length);
    if (bodyLeft !== null) connection.bodyLeft = Math.max(0, bodyLeft - length);
    this.#startDuration = 0;
    const startedAt = this.#now();
    parse(isLast ? unparsed : unparsed.subarray(0, length));
    const time = this.#now() - startedAt - this.#startDuration;
    this.#parseTime += time;
    this.totalTime += time;
    if (bodyLeft === null) connection.chunkSlice = nextSlice(chunkSlice, time);
    // If the last response has been sent (`writableEnded`), no response to the remaining bytes can be sent.
    if (isLast || socket.destroyed || socket.writableEnded) this.#drop(connection);
  }
}
