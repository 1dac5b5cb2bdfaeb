import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { isAllowedTarget } from '#core/authorization/outbound-target.ts';
import { type Outbound, type OutboundConnection, type OutboundTarget, TargetRefused, TargetUnreachable } from '#ports/outbound.ts';
import { type AddTurn, guardedHttp, type WrapSocket, wrapInTurns } from './guarded-http.ts';
import { hostResolver } from './resolve-host.ts';
import { startTenantTls } from './tenant-tls.ts';
import { unreachable } from './unreachable.ts';

/** Options of `guardedOutbound`. Tests replace the name server and the timeout. */
interface Options {
  /** Networks that the operator has allowed (POSTERN_PRIVATE_TARGETS), in the packed form of address-range.ts. */
  readonly privateTargets: string;
  /** Returns all addresses of a host name. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** ms for the name resolution, the connection and the TLS handshake together. */
  readonly timeout?: number;
  /** The most bytes that a connection for HTTP requests may receive, including TLS and headers. Default: no limit. */
  readonly maxConnectionBytes?: number;
  /**
   * Calls `work` in the next turn of a tenant or, if it is not known, of the network of a server. The work processes what the server
   * has sent. Default: calls it in the next iteration of the event loop.
   */
  readonly addTurn?: AddTurn;
}

const connectTimeout = 10_000; // ms

/**
 * Waits for an event of a socket. Destroys the socket if it fails, or the signal aborts, before the
 * event.
 */
async function waitForEvent<S extends Socket>(socket: S, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<S> {
  const outcome = Promise.withResolvers<void>();
  const abort = () => outcome.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  socket.once(event, () => outcome.resolve()).once('error', outcome.reject);
  try {
    signal.throwIfAborted();
    await outcome.promise;
    return socket;
  } catch (cause) {
    socket.on('error', () => {}); // errors after the destruction are ignored
    socket.destroy();
    throw cause;
  } finally {
    signal.removeEventListener('abort', abort);
    socket.off('error', outcome.reject);
  }
}

/** A connection for the HTTP client, which needs a `Socket`. */
interface Connection extends OutboundConnection {
  readonly socket: Socket;
}

interface OpenOptions {
  readonly signal: AbortSignal;
  readonly wrap: WrapSocket;
}

/** Opens connections and sends requests to servers that tenants name. */
export function guardedOutbound({
  privateTargets,
  resolve = hostResolver(),
  timeout = connectTimeout,
  maxConnectionBytes,
  addTurn,
}: Options): Outbound {
  async function addressesOf(host: string): Promise<readonly string[]> {
    const addresses = isIP(host) ? [host] : await resolve(host);
    const allowed = addresses.filter((address) => isAllowedTarget(address, privateTargets));
    if (addresses.length > 0 && allowed.length === 0)
      throw new TargetRefused(`${host} is in a private network. The operator can allow it with POSTERN_PRIVATE_TARGETS`);
    return allowed;
  }

  async function open(target: OutboundTarget, address: string, { signal, wrap }: OpenOptions): Promise<Connection> {
    const socket = wrap(await waitForEvent(connectSocket({ host: address, port: target.port, noDelay: true }), 'connect', signal), address);
    if (!target.tls) return { address, socket };
    const encrypted = startTenantTls(socket, { host: target.host, ca: target.tls.ca, alpn: ['http/1.1'] });
    return { address, socket: await waitForEvent(encrypted, 'secureConnect', signal) };
  }

  /** Tries one address after the other: the first may be of a family that this machine has no route for. */
  async function openFirst(target: OutboundTarget, options: OpenOptions): Promise<Connection> {
    let cause: unknown = Object.assign(new Error('the name has no address'), { code: 'ENODATA' });
    for (const address of await addressesOf(target.host)) {
      try {
        return await open(target, address, options);
      } catch (failure) {
        cause = failure;
        if (options.signal.aborted) break;
      }
    }
    throw unreachable(target.host, cause);
  }

  async function connect(
    target: OutboundTarget,
    signal?: AbortSignal,
    wrap = wrapInTurns(addTurn ?? null, target.tid),
  ): Promise<Connection> {
    const deadline = AbortSignal.any([AbortSignal.timeout(timeout), ...(signal ? [signal] : [])]);
    const late = Promise.withResolvers<never>();
    const abort = () => late.reject(unreachable(target.host, deadline.reason)); // a name server may never answer
    deadline.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([openFirst(target, { signal: deadline, wrap }), late.promise]);
    } catch (cause) {
      throw cause instanceof TargetRefused || cause instanceof TargetUnreachable ? cause : unreachable(target.host, cause);
    } finally {
      deadline.removeEventListener('abort', abort);
    }
  }

  const client = guardedHttp((target, wrap) => connect(target, undefined, wrap), {
    maxConnectionBytes: maxConnectionBytes ?? null,
    addTurn: addTurn ?? null,
  });
  return {
    connect,
    request: client.send,
    [Symbol.asyncDispose]: client.close,
  };
}
