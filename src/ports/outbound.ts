/** A server that a tenant's configuration names. */
export interface OutboundTarget {
  /** Host name or IP address. */
  readonly host: string;
  readonly port: number;
  /**
   * If present, the connection uses TLS, and the certificate must match the host. `ca`: PEM certificates to trust instead of those of
   * Node.js.
   */
  readonly tls?: { readonly ca?: string };
  /**
   * Tenant that names the server. What the server sends is read in the turns of this tenant. undefined: in the turns of the server's
   * network.
   */
  readonly tid?: number;
}

/** An open connection. The caller of `connect` reads and writes the socket. */
export interface OutboundConnection {
  readonly socket: NodeJS.ReadWriteStream & { destroy(cause?: Error): unknown };
  /** The address that was checked and connected to. */
  readonly address: string;
}

/**
 * Connects to addresses that tenants name: providers, storages, directories, time-stamp services. Resolves the host name, checks each
 * address, and connects only to an address that passed the check, so that a later DNS response has no effect.
 */
export interface Outbound {
  /**
   * @param signal ends the attempt
   * @throws TargetRefused if the host has only addresses in private or reserved networks that the operator has not allowed
   * @throws TargetUnreachable if no connection is made
   */
  connect(target: OutboundTarget, signal?: AbortSignal): Promise<OutboundConnection>;
  /**
   * Sends an HTTP request. A redirect is returned to the caller and never followed.
   * @throws as `connect`; the reason of the signal; ResponseTooLarge if the server sends too much before the body, or more than `maxBytes`
   */
  request(url: URL, request?: OutboundRequest): Promise<OutboundResponse>;
  /** Closes the connections of `request`, also those with a running request. Sockets that `connect` returned stay open. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A body of known length. */
export interface OutboundBody {
  /** Bytes. */
  readonly length: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

export interface OutboundRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'PROPFIND' | 'MKCOL' | 'MOVE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | OutboundBody | null;
  readonly signal?: AbortSignal;
  /** Tenant that names the server. Other tenants do not share the connection, and its bytes are read in the turns of this tenant. */
  readonly tid?: number;
  /**
   * ms until the headers of the response, counted from the request; for a body in pieces, from the last piece that was sent. Default: 30
   * seconds.
   */
  readonly headersTimeout?: number;
  /** Maximum length in bytes of the body that the caller will `read`. For a longer body, `request` may throw ResponseTooLarge. */
  readonly maxBytes?: number;
}

/**
 * The response to an HTTP request. Its body can be read only once. If it exceeds the limit of `read`, or if a loop over it ends early,
 * the rest is discarded.
 */
export interface OutboundResponse {
  readonly status: number;
  /** The headers by name in lower case. Those that occur several times are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
  /**
   * Reads the entire body.
   * @param maxBytes limit, since a response from outside can have any length
   * @throws ResponseTooLarge; another error if the connection fails
   */
  read(maxBytes: number): Promise<Uint8Array>;
  /** Ends the response without reading the rest of its body. */
  discard(): void;
}

/** A response is longer than a limit, such as `maxBytes` of `read`, or its body comes in too many small pieces. */
export class ResponseTooLarge extends Error {}

/**
 * The address is in a network that tenants may not reach: the message names the setting that allows it. Or the URL of a request is neither
 * https nor http.
 */
export class TargetRefused extends Error {}

/**
 * The name has no address, no server responds at its addresses in time, or the connection fails, for example because of the
 * certificate.
 */
export class TargetUnreachable extends Error {}
