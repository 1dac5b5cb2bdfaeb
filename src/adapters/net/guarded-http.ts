import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { narrowNetworkOf } from '#core/client-networks.ts';
import { hostOf } from '#core/host-of.ts';
import {
  type Outbound,
  type OutboundBody,
  type OutboundRequest,
  type OutboundResponse,
  type OutboundTarget,
  ResponseTooLarge,
  TargetRefused,
  TargetUnreachable,
} from '#ports/outbound.ts';
import { copyPieces } from './copy-pieces.ts';
import { maxPieces } from './max-pieces.ts';
import { TurnSocket } from './turn-socket.ts';
import { unreachable } from './unreachable.ts';

const responseTimeout = 30_000; // ms until the headers of a response (default), and between two pieces of its body
const defaultPorts: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

/** Errors that a request throws as they are. All others, except after an abort, mean that the server cannot be reached. */
const thrownErrors = [TargetRefused, TargetUnreachable, ResponseTooLarge];

/** Wraps a connection before TLS begins on it. */
export type WrapSocket = (socket: Socket, address: string) => Socket;
type Connect = (target: OutboundTarget, wrap: WrapSocket) => Promise<{ readonly socket: Socket }>;

async function readUpTo(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let [length, count] = [0, 0];
  for await (const piece of body) {
    length += piece.length;
    count += 1;
    if (count > maxPieces(length)) throw new ResponseTooLarge('the response comes in too many small pieces');
    if (length > maxBytes) throw new ResponseTooLarge(`the response is longer than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

type Body = NonNullable<OutboundRequest['body']>;
const isInPieces = (body: Body | null): body is OutboundBody => typeof body === 'object' && body !== null && 'pieces' in body;

/** Joins the values of headers that occur several times (RFC 9110, 5.3). */
const joinValues = (fields: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, value = '']) => [name, [value].flat().join(', ')]));

/** Calls work in the turn of a tenant, or, if the tenant is not known, of the network of a server. */
export type AddTurn = (tidOrNetwork: number | string, work: () => void) => void;

/**
 * Returns the function that lets the bytes of a connection arrive in turns. Without `addTurn`, at most one piece of
 * each connection arrives in an iteration of the event loop.
 * @param tid tenant in whose turns the bytes arrive; undefined: they arrive in the turns of the server's network
 */
export function wrapInTurns(addTurn: AddTurn | null, tid: number | undefined, maxBytes: number | null = null): WrapSocket {
  if (addTurn === null) return (socket) => new TurnSocket(socket, setImmediate, maxBytes);
  return (socket, address) => new TurnSocket(socket, (work) => addTurn(tid ?? narrowNetworkOf(address), work), maxBytes);
}

/** The limits of HTTP connections, and the turns in which their bytes arrive. */
interface ConnectionLimits {
  /** Maximum number of bytes that may arrive on a connection. If set, each connection serves only one request. null: no limit. */
  readonly maxConnectionBytes: number | null;
  /** Lets bytes arrive in turns. null: at most one piece of each connection in an iteration of the event loop. */
  readonly addTurn: AddTurn | null;
}

/** Returns an agent that opens its connections with `connect`. @param tid as in `wrapInTurns`; null: not known */
async function agentOver(connect: Connect, { maxConnectionBytes, addTurn }: ConnectionLimits, tid: number | null): Promise<Dispatcher> {
  const { Agent } = await import('undici'); // loaded with the first request: most installations send none
  // The turns begin before TLS, because a handshake or session tickets can be costly, although they contain no byte of a response.
  const wrap = wrapInTurns(addTurn, tid ?? undefined, maxConnectionBytes);
  return new Agent({
    headersTimeout: responseTimeout,
    bodyTimeout: responseTimeout,
    ...(maxConnectionBytes === null ? {} : { pipelining: 0 }), // each connection serves one request
    connect({ hostname, port, protocol }, callback) {
      const target = { host: hostOf(hostname), port: Number(port) || (defaultPorts[protocol] ?? 0) };
      connect(protocol === 'https:' ? { ...target, tls: {} } : target, wrap).then(
        ({ socket }) => callback(null, socket),
        (cause: Error) => callback(cause, null),
      );
    },
  }).compose(copyPieces);
}

/**
 * Returns a function that sends HTTP requests over connections that `connect` opens, and one that closes these
 * connections. undici's `request` follows no redirect.
 */
export function guardedHttp(
  connect: Connect,
  limits: ConnectionLimits,
): { readonly send: Outbound['request']; readonly close: () => Promise<void> } {
  const agents = new Map<number | null, Promise<Dispatcher>>();
  function agentOf(tid: number | null): Promise<Dispatcher> {
    const agent = agents.get(tid) ?? agentOver(connect, limits, tid);
    agents.set(tid, agent);
    return agent;
  }
  async function send(
    url: URL,
    { signal, method = 'GET', headers = {}, body = null, headersTimeout = responseTimeout, tid }: OutboundRequest = {},
  ): Promise<OutboundResponse> {
    if (!(url.protocol in defaultPorts)) throw new TargetRefused(`${url.protocol} is neither https: nor http:`);
    const { origin, pathname, search } = url;
    try {
      const response = await (await agentOf(limits.addTurn === null ? null : (tid ?? null))).request({
        origin,
        path: pathname + search,
        method,
        headersTimeout,
        headers: { ...headers, ...(isInPieces(body) ? { 'content-length': `${body.length}` } : {}) },
        body: isInPieces(body) ? Readable.from(body.pieces) : body,
        ...(signal ? { signal } : {}),
      });
      const { statusCode: status, headers: fields, body: content } = response;
      return {
        status,
        headers: joinValues(fields),
        body: content,
        read: (maxBytes) => readUpTo(content, maxBytes),
        discard: () => void content.on('error', () => {}).destroy(),
      };
    } catch (cause) {
      if (thrownErrors.some((kind) => cause instanceof kind) || signal?.aborted) throw cause;
      throw unreachable(url.host, cause);
    }
  }
  return { send, close: async () => void (await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()))) };
}
