import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setAndEvict } from '#core/bounded-map.ts';
import { wideNetworkOf } from '#core/client-networks.ts';
import { JoinedRequest } from './join-body-pieces.ts';
import type { ParseTurns } from './parse-turns.ts';

const maxRequests = 8; // that one connection sends within a millisecond
const maxPieces = 64; // small pieces of a body that arrive in one iteration of the event loop
const costlyTime = 600_000; // ms for which a network counts as costly
const maxNetworks = 10_000;

/** A connection and its newest request. */
interface Watched {
  readonly socket: Socket;
  readonly network: string;
  request: IncomingMessage | null;
  /** The current millisecond, and the number of requests in it. */
  millisecond: number;
  requests: number;
}

/**
 * Finds the networks that send more than a few requests or many small chunks at once: their connections are parsed in turns from then
 * on, and so is each connection that sends a chunked body. All others are parsed by Node.js itself, because the turns
 * cost a sixth of the CPU of a small request.
 */
export class CostlyNetworks {
  readonly #watched = new WeakMap<Socket, Watched>();
  readonly #byNetwork = new Map<string, Set<Watched>>();
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
    const watched: Watched = { socket, network, request: null, millisecond: 0, requests: 0 };
    this.#watched.set(socket, watched);
    const others = this.#byNetwork.get(network) ?? new Set();
    this.#byNetwork.set(network, others.add(watched));
    socket.once('close', () => {
      others.delete(watched);
      if (others.size === 0 && this.#byNetwork.get(network) === others) this.#byNetwork.delete(network);
    });
    if ((this.#costlyUntil.get(network) ?? 0) > this.#now()) this.#turns.add(socket, null);
  }

  /** Notes a new request, before it starts. */
  noteRequest(request: IncomingMessage): void {
    const watched = this.#watched.get(request.socket);
    if (!watched) return;
    const millisecond = Math.floor(this.#now());
    watched.requests = watched.millisecond === millisecond ? watched.requests + 1 : 1;
    watched.millisecond = millisecond;
    watched.request = request;
    if (watched.requests > maxRequests) this.#noteCost(watched.network);
    if (request.headers['transfer-encoding'] !== undefined) this.#watchChunks(watched, request);
  }

  #watchChunks({ socket, network }: Watched, request: IncomingMessage): void {
    this.#turns.add(socket, request);
    setImmediate(() => {
      if (request instanceof JoinedRequest && request.smallPieces > maxPieces) this.#noteCost(network);
    });
  }

  #noteCost(network: string): void {
    const isKnown = (this.#costlyUntil.get(network) ?? 0) > this.#now();
    setAndEvict(this.#costlyUntil, network, this.#now() + costlyTime, maxNetworks);
    if (isKnown) return; // its connections take turns already
    for (const { socket, request } of this.#byNetwork.get(network) ?? []) this.#turns.add(socket, request);
  }
}
