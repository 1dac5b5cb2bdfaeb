import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '#core/authorization/address-range.ts';
import { fairQueue } from '#core/fair-queue.ts';

const targetTime = 5; // ms of parsing in one turn of the event loop
const headSlice = 1024; // bytes: at most forty requests
const chunkSlice = 8192; // bytes of a body in chunks: at most 1,400 chunks, which cost 2 ms

/** A connection, and the received bytes that are not parsed yet. */
interface Connection {
  readonly socket: Socket & { readonly _paused?: boolean };
  /** Parses bytes: the listener of Node.js. */
  readonly parse: (bytes: NonSharedBuffer) => void;
  readonly networks: readonly string[];
  rest: NonSharedBuffer | null;
  /** Bytes of the body of the newest request that are not parsed yet, and up to `headSlice` more; null: a body in chunks. */
  bodyLeft: number | null;
}

/** Whether Node.js parses nothing for now, because the client does not read its responses. It then resumes the socket later. */
const awaitsReader = ({ socket }: Connection) => socket._paused === true;

/**
 * Parses the bytes of connections in turns of the event loop, shared by networks. Node.js would parse all that one read returns,
 * up to 64 KiB: 2,500 requests, or 11,000 chunks of one byte, that cost up to 50 ms. Sent on hundreds of connections, they would
 * delay all other clients by seconds.
 */
export class ParseTurns {
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #waiting = fairQueue<Connection>();
  readonly #now: () => number;
  #turnBegun: number | null = null; // null: nothing was parsed in this turn

  /** @param now returns a monotonic time in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Parses what a new connection receives in turns. */
  add(socket: Socket): void {
    const [parse] = socket.listeners('data');
    if (!parse) return;
    const address = socket.remoteAddress ?? '';
    const networks = [networkOf(address, 32, 48), networkOf(address, 32, 64)];
    const connection: Connection = { socket, parse: parse.bind(socket), networks, rest: null, bodyLeft: 0 };
    this.#connections.set(socket, connection);
    socket.removeAllListeners('data');
    socket.on('data', (bytes: NonSharedBuffer) => this.#receive(connection, bytes));
    socket.on('resume', () => {
      if (connection.rest) socket.pause(); // the reader of a body has resumed it
      if (connection.rest && !awaitsReader(connection)) this.#wait(connection);
    });
    socket.once('close', () => this.#waiting.remove(networks, connection));
  }

  /** Notes the length of the body of a new request: a long body needs no small slices. */
  noteRequest({ socket, headers }: IncomingMessage): void {
    const connection = this.#connections.get(socket);
    if (connection) connection.bodyLeft = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
  }

  #receive(connection: Connection, bytes: NonSharedBuffer): void {
    if (connection.socket.writableEnded) return; // the last response has been sent
    connection.rest = connection.rest ? Buffer.concat([connection.rest, bytes]) : bytes;
    while (connection.rest && this.#hasTime() && !awaitsReader(connection)) this.#parseSlice(connection);
    if (!connection.rest) return;
    connection.socket.pause();
    if (!awaitsReader(connection)) this.#wait(connection);
  }

  #wait(connection: Connection): void {
    const { networks, socket } = connection;
    this.#waiting.remove(networks, connection);
    if (!socket.destroyed) this.#waiting.add(networks, connection);
    this.#begin();
  }

  #begin(): void {
    if (this.#turnBegun !== null) return;
    this.#turnBegun = this.#now();
    setImmediate(() => this.#endTurn());
  }

  #hasTime(): boolean {
    this.#begin();
    return this.#now() - (this.#turnBegun ?? 0) < targetTime;
  }

  #endTurn(): void {
    this.#turnBegun = null;
    for (let next = this.#waiting.take(); next; next = this.#waiting.take()) {
      this.#begin();
      this.#parseSlice(next);
      if (next.rest && !awaitsReader(next)) this.#waiting.add(next.networks, next);
      else if (!awaitsReader(next)) next.socket.resume();
      if (!this.#hasTime()) return;
    }
  }

  #parseSlice(connection: Connection): void {
    const { socket, parse, rest, bodyLeft } = connection;
    if (!rest) return;
    const length = Math.min(rest.length, bodyLeft === null ? chunkSlice : Math.max(headSlice, bodyLeft));
    connection.rest = length < rest.length ? rest.subarray(length) : null;
    if (bodyLeft !== null) connection.bodyLeft = Math.max(0, bodyLeft - length);
    parse(rest.subarray(0, length));
    if (socket.destroyed || socket.writableEnded) connection.rest = null; // no further response can be sent
  }
}
