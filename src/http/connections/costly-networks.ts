import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setAndEvict } from '#core/bounded-map.ts';
import { wideNetworkOf } from '#core/client-networks.ts';
import { JoinedRequest } from './join-body-pieces.ts';
import type { ParseTurns } from './parse-turns.ts';

const maxRequests = 8; // on one connection in one millisecond; with more, its network counts as costly
const maxPieces = 64; // small pieces of a body that come with its headers; with more, its network counts as costly
const costlyTime = 600_000; // ms for which a network counts as costly
const maxNetworks = 10_000;

/** A connection and its newest request. */
interface WatchedConnection {
  readonly socket: Socket;
  readonly network: string;
  request: IncomingMessage | null;
  /** The millisecond of the newest request, and the number of requests in it. */
  millisecond: number;
  requests: number;
}

/**
 * Finds the networks that send more than a few requests or many small chunks at once. Their connections are then parsed in turns, and so
 * are their new connections for ten minutes. Each connection that sends a chunked body is parsed in turns, too. Node.js itself parses all
 * others, because the turns cost a sixth of the CPU time of a small request.
 */
export class CostlyNetworks {
  readonly #watched = new WeakMap<Socket, WatchedConnection>();
  readonly #byNetwork = new Map<string, Set<WatchedConnection>>();
  readonly #costlyUntil = new Map<string, number>();
  readonly #now: () => number;
  readonly #turns: ParseTurns;

  /** @param now returns a monotonic time in ms */
  constructor(now: () => number, turns: ParseTurns) {
    this.#now = now;
    this.#turns = turns;
  }

  /** Watches a new connection. */
  add(socket: Socket): void {
    const network = wideNetworkOf(socket.remoteAddress ?? '');
    const connection: WatchedConnection = { socket, network, request: null, millisecond: 0, requests: 0 };
    this.#watched.set(socket, connection);
    const connections = this.#byNetwork.get(network) ?? new Set();
    this.#byNetwork.set(network, connections.add(connection));
    socket.once('close', () => {
      connections.delete(connection);
      if (connections.size === 0 && this.#byNetwork.get(network) === connections) this.#byNetwork.delete(network);
    });
    if ((this.#costlyUntil.get(network) ?? 0) > this.#now()) this.#turns.add(socket, null);
  }

  /** Notes a new request, before it starts. */
  noteRequest(request: IncomingMessage): void {
    const connection = this.#watched.get(request.socket);
    if (!connection) return;
    const millisecond = Math.floor(this.#now());
    connection.requests = connection.millisecond === millisecond ? connection.requests + 1 : 1;
    connection.millisecond = millisecond;
    connection.request = request;
    if (connection.requests > maxRequests) this.#noteCost(connection.network);
    if (request.headers['transfer-encoding'] !== undefined) this.#watchChunks(connection, request);
  }

  #watchChunks({ socket, network }: WatchedConnection, request: IncomingMessage): void {
    this.#turns.add(socket, request);
    setImmediate(() => {
      if (request instanceof JoinedRequest && request.smallPieces > maxPieces) this.#noteCost(network);
    });
  }

  #noteCost(network: string): void {
    const isCostly = (this.#costlyUntil.get(network) ?? 0) > this.#now();
    setAndEvict(this.#costlyUntil, network, this.#now() + costlyTime, maxNetworks);
    if (isCostly) return; // its connections take turns already
    for (const { socket, request } of this.#byNetwork.get(network) ?? []) this.#turns.add(socket, request);
  }
}
