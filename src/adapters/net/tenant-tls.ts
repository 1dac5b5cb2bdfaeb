import { constants } from 'node:crypto';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, DEFAULT_CIPHERS, type TLSSocket } from 'node:tls';
import { TurnSocket } from './turn-socket.ts';

/**
 * The ciphers exclude finite-field Diffie-Hellman and RSA key exchange: with them, the server chooses the size of the group
 * or key, and one handshake with 10,000 bits keeps a thread busy for more than a second.
 */
const ciphers = `${DEFAULT_CIPHERS}:!DHE:!kRSA`;
/** Bytes that a server may send until the TLS handshake ends: many certificates are costly to verify. 3 to 10 KiB are usual. */
const maxHandshakeBytes = 12 << 10;
const maxTickets = 16; // of a connection; servers send one or two (RFC 8446, 4.6.1)

interface TlsOptions {
  /** Host name or IP address, which the certificate must match. */
  readonly host: string;
  /** PEM certificates to trust instead of those of Node.js. */
  readonly ca?: string | undefined;
  readonly alpn?: readonly string[];
}

/**
 * Starts TLS with a server that a tenant names. Limits keep the server from blocking the thread. The server name is
 * omitted for an IP address (RFC 6066, section 3).
 */
export function startTenantTls(socket: Duplex, { host, ca, alpn }: TlsOptions): TLSSocket {
  const turnSocket = socket instanceof TurnSocket ? socket : null;
  const tlsSocket = connectTls({
    socket,
    ciphers,
    minVersion: 'TLSv1.2',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION, // a second handshake would have no limit, and could keep the thread busy for seconds
    ...(alpn === undefined ? {} : { ALPNProtocols: [...alpn] }),
    ...(isIP(host) ? { host } : { host, servername: host }),
    ...(ca === undefined ? {} : { ca }),
  });
  turnSocket?.beginHandshake(maxHandshakeBytes);
  tlsSocket.once('secureConnect', () => turnSocket?.endHandshake());
  let tickets = 0;
  // A server can send session tickets without end. The application sees no bytes, but each ticket costs CPU time.
  return tlsSocket.on('session', () => {
    tickets += 1;
    if (tickets > maxTickets) tlsSocket.destroy(new Error('the server sends too many session tickets'));
  });
}
