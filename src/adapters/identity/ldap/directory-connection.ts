import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type * as Library from 'ldapts';
import { startTenantTls } from '#adapters/net/tenant-tls.ts';
import { unreachable } from '#adapters/net/unreachable.ts';
import type { TenantTurns } from '#adapters/os/tenant-turns.ts';
import { hostOf } from '#core/host-of.ts';
import { DirectoryUnavailable, type TenantDirectory } from '#ports/directory.ts';
import { type Outbound, TargetRefused, TargetUnreachable } from '#ports/outbound.ts';
import { MessageSocket } from './message-socket.ts';
import { requestStartTls } from './start-tls.ts';

const defaultPorts: Readonly<Record<string, number>> = { 'ldaps:': 636, 'ldap:': 389 };

/**
 * A connection to a directory. It is never reopened: over a new connection, the library
 * would send the next password without TLS.
 */
export interface DirectoryConnection {
  readonly client: Library.Client;
  readonly isOpen: () => boolean;
  /** Returns the error if Postern refused what the directory sent, otherwise null. The library's own errors do not name this reason. */
  readonly refusedData: () => DirectoryUnavailable | null;
  /** Also aborts a running operation. */
  close(): void;
}

function unavailable(cause: unknown, host: string): DirectoryUnavailable {
  if (cause instanceof DirectoryUnavailable || cause instanceof TargetRefused) return new DirectoryUnavailable(cause.message, { cause });
  const { message } = cause instanceof TargetUnreachable ? cause : unreachable(host, cause);
  return new DirectoryUnavailable(`${message}.`, { cause });
}

/** Starts TLS on a connection, and waits until it is encrypted and the certificate is verified. */
async function encrypt(socket: Duplex, host: string, ca: string | undefined, signal: AbortSignal): Promise<TLSSocket> {
  const handshake = Promise.withResolvers<void>();
  const abort = () => handshake.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const tlsSocket = startTenantTls(socket, { host, ca });
  tlsSocket.once('secureConnect', () => handshake.resolve());
  tlsSocket.on('error', handshake.reject); // not removed after the handshake: a later error must not end the process
  tlsSocket.on('close', () => handshake.reject(new DirectoryUnavailable('The directory closed the connection.')));
  try {
    await handshake.promise;
    return tlsSocket;
  } catch (cause) {
    tlsSocket.destroy();
    throw cause;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Opens a connection. Encrypts it, except for `ldap:` without `startTls`, which is allowed only for a directory on this machine. */
async function openSocket(
  outbound: Pick<Outbound, 'connect'>,
  { url, startTls = false, ca, tid }: TenantDirectory,
  signal: AbortSignal,
): Promise<Duplex> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostOf(hostname);
  const { socket } = await outbound.connect({ host, port: Number(port) || (defaultPorts[protocol] ?? 0), tid }, signal);
  if (!(socket instanceof Duplex)) throw new TypeError('a connection must be a duplex stream');
  socket.on('error', () => {}); // each step that uses the socket handles errors itself
  try {
    if (startTls) await requestStartTls(socket, signal);
    return protocol === 'ldaps:' || startTls ? await encrypt(socket, host, ca, signal) : socket;
  } catch (cause) {
    socket.destroy();
    throw cause;
  }
}

export interface ConnectionParts {
  readonly library: typeof Library;
  readonly outbound: Pick<Outbound, 'connect'>;
  readonly messageTurns: TenantTurns;
}

/**
 * Connects to a directory.
 * @param signal ends the attempt to connect. It has no effect after this function has returned
 * @throws DirectoryUnavailable
 */
export async function connectDirectory(
  { library, outbound, messageTurns }: ConnectionParts,
  directory: TenantDirectory,
  signal: AbortSignal,
): Promise<DirectoryConnection> {
  const socket = await openSocket(outbound, directory, signal).catch((cause: unknown) => {
    throw unavailable(cause, new URL(directory.url).host);
  });
  const messageSocket = new MessageSocket(socket, messageTurns, directory.tid);
  messageSocket.on('error', () => {}); // the library handles the errors of a socket that it uses
  socket.pause();
  let isSocketUsed = false;
  function giveSocket(): Duplex {
    if (isSocketUsed || socket.destroyed) throw new DirectoryUnavailable('The directory closed the connection.');
    isSocketUsed = true;
    queueMicrotask(() => socket.resume());
    return messageSocket;
  }
  // The library accepts any socket here, and calls `createConnection` when it has none.
  const client = new library.Client({ url: 'ldap://directory.invalid', createConnection: giveSocket as never, autoRebind: false });
  const refusedData = () => (messageSocket.errored instanceof DirectoryUnavailable ? messageSocket.errored : null);
  return { client, isOpen: () => !socket.destroyed, refusedData, close: () => socket.destroy() };
}
