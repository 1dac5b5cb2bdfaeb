import { TargetUnreachable } from '#ports/outbound.ts';

const noCipher = 'it does not support TLS 1.2 or later with ECDHE';
const [noResponse, nameServerFailed, connectionClosed, certificateUntrusted, notTls] = [
  'it does not respond in time',
  'the name server does not respond, or reports an error',
  'it closed the connection',
  'this machine does not trust its certificate',
  'it does not speak TLS at this port',
];

/** Plain words for the codes of errors of the network, of TLS and of undici. */
const reasons: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ENOTFOUND: 'its name has no address',
    ENODATA: 'its name has no address',
    EAI_AGAIN: nameServerFailed,
    ETIMEOUT: nameServerFailed, // from the resolver; ETIMEDOUT comes from a connection
    ESERVFAIL: nameServerFailed,
    EREFUSED: nameServerFailed,
    ECONNREFUSED: 'nothing accepts connections at this port',
    EHOSTUNREACH: 'there is no route to its address',
    ENETUNREACH: 'there is no route to its address',
    ETIMEDOUT: noResponse,
    UND_ERR_HEADERS_TIMEOUT: noResponse,
    UND_ERR_BODY_TIMEOUT: noResponse,
    ECONNRESET: connectionClosed,
    EPIPE: connectionClosed,
    UND_ERR_SOCKET: connectionClosed,
    CERT_HAS_EXPIRED: 'its certificate has expired',
    CERT_NOT_YET_VALID: 'its certificate is not valid yet, or the clock of this machine is wrong',
    ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
    DEPTH_ZERO_SELF_SIGNED_CERT: certificateUntrusted,
    SELF_SIGNED_CERT_IN_CHAIN: certificateUntrusted,
    UNABLE_TO_GET_ISSUER_CERT: certificateUntrusted,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificateUntrusted,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificateUntrusted,
    POSTERN_LONG_HANDSHAKE: 'it sends more than 12 KiB, mostly certificates, before the connection is encrypted',
    EPROTO: notTls,
    ERR_SSL_WRONG_VERSION_NUMBER: notTls,
    ERR_SSL_PACKET_LENGTH_TOO_LONG: notTls,
  }),
);

/** Codes of OpenSSL for a server that offers no encryption that `startTenantTls` accepts. */
const noCommonEncryption = /^ERR_SSL_.*(HANDSHAKE_FAILURE|PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)$/;

/** Returns why a connection failed, or null if the reason is not known. */
function reasonOf(cause: unknown): string | null {
  if (!(cause instanceof Error)) return null;
  if (cause.name === 'TimeoutError') return noResponse;
  if (cause.name === 'HTTPParserError') return 'it does not speak HTTP at this port';
  const code = 'code' in cause ? `${cause.code}` : '';
  if (noCommonEncryption.test(code)) return noCipher;
  return reasons.get(code) ?? null;
}

/** Returns the error for a server that cannot be reached. Its message says why, for an operator. */
export function unreachable(host: string, cause: unknown): TargetUnreachable {
  const reason = reasonOf(cause);
  return new TargetUnreachable(`${host} cannot be reached${reason === null ? '' : `: ${reason}`}`, { cause });
}
