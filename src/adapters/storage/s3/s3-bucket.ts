import { isIP } from 'node:net';
import { AwsV4Signer } from 'aws4fetch';
import pRetry from 'p-retry';
import { hostOf } from '#core/host-of.ts';
import type { S3Configuration } from '#core/records/location-configurations.ts';
import { type Outbound, type OutboundBody, type OutboundRequest, type OutboundResponse, TargetRefused } from '#ports/outbound.ts';
import { OutcomeUnknown, StorageUnavailable } from '#ports/storage.ts';
import { childText, readXml, type XmlElement } from './s3-xml.ts';

const maxUnused = 1 << 16; // bytes of a response that nobody needs

/** A request to a bucket. */
export interface S3Request {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its pieces must be readable again: a request may be sent twice. */
  readonly body?: string | OutboundBody;
  /** Statuses of 300 or more that the caller interprets. All others are errors. */
  readonly expected?: readonly number[];
  /** ms until the response is read to its end, if there is no signal. Default: a minute. null: none, for a response that is streamed. */
  readonly timeLimit?: number | null;
  readonly signal?: AbortSignal;
}

/** RFC 3986, section 2.3: all but unreserved characters are encoded, since the signature is computed from the encoded text. */
const encodeText = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
/** Returns a key as part of a URL, or of the header `x-amz-copy-source`. */
export const encodeKey = (key: string): string => key.split('/').map(encodeText).join('/');

const encodeQuery = (query: Readonly<Record<string, string>>) =>
  Object.entries(query)
    .map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`)
    .join('&');

const defaultTimeLimit = 60_000; // ms
const retries = { retries: 2, minTimeout: 200, factor: 2, randomize: true, unref: true }; // minTimeout in ms
/** The codes with which a service refuses a request because it has too many. It has not begun to process the request. */
const throttlingCodes = ['SlowDown', 'ServiceUnavailable', 'RequestLimitExceeded', 'TooManyRequests', 'Throttling'];
const conditionHeaders = ['if-match', 'if-none-match'];

type Method = NonNullable<OutboundRequest['method']>;

const isChange = (method: Method) => method !== 'GET' && method !== 'HEAD';

/** Plain words for the codes of errors that a configuration or an operator can cause. */
const codeTexts: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'the access key id is unknown',
  SignatureDoesNotMatch: 'the secret access key is wrong',
  InvalidToken: 'the session token is wrong',
  ExpiredToken: 'the session token has expired',
  AccessDenied: 'the access key may not do this',
  NoSuchBucket: 'there is no such bucket',
  AuthorizationHeaderMalformed: 'the region is wrong',
  PermanentRedirect: 'the bucket is in another region, or at another endpoint',
  RequestTimeTooSkewed: 'the clock of this machine is wrong',
};

/** Returns the code of an error that a document describes. */
function codeOf(document: XmlElement): string {
  const code = childText(document, 'Code') ?? '';
  return /^[A-Za-z]{1,64}$/.test(code) ? code : 'no code';
}

/** Returns the code of an error that a response describes. The response may not be XML. */
const codeIn = ({ body }: OutboundResponse) => readXml(body).then(codeOf, () => 'no code');

/** The service has responded with an error. */
export class ServiceError extends StorageUnavailable {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    const known = codeTexts[code];
    super(`${known ? `${known}: ` : ''}the service answered ${status} (${code})`);
    this.status = status;
    this.code = code;
  }
}

/**
 * Returns whether a failed request may be sent again: any that reads, and a change that the service has not begun. A second attempt
 * of another change could meet the result of the first one.
 */
function mayRetry(method: Method, cause: unknown): boolean {
  const error = cause instanceof OutcomeUnknown ? cause.cause : cause;
  if (error instanceof ServiceError && throttlingCodes.includes(error.code)) return true;
  if (isChange(method) || !(cause instanceof StorageUnavailable) || cause.cause instanceof TargetRefused) return false;
  return !(error instanceof ServiceError) || error.status >= 500;
}

/** Returns the headers of a request without its conditions, or null if it has none. */
function withoutConditions({ headers = {} }: S3Request): Readonly<Record<string, string>> | null {
  const others = Object.entries(headers).filter(([name]) => !conditionHeaders.includes(name));
  return others.length === Object.keys(headers).length ? null : Object.fromEntries(others);
}

/** Returns the error for a request without a response. */
function noResponse(method: Method, cause: unknown): StorageUnavailable {
  if (cause instanceof TargetRefused) return new StorageUnavailable(cause.message, { cause });
  return new (isChange(method) ? OutcomeUnknown : StorageUnavailable)('the service does not respond', { cause });
}

/** Reads a response to its end. @throws OutcomeUnknown, StorageUnavailable if the connection is lost */
async function readBody<T>(method: Method, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw cause instanceof StorageUnavailable ? cause : noResponse(method, cause);
  }
}

/** A bucket at a service that speaks the S3 protocol. */
export class S3Bucket {
  readonly name: string;
  /** A text that is the same for every location in this bucket, however the bucket is addressed. */
  readonly identity: string;
  /** ms. */
  readonly monotonic: () => number;
  readonly #address: string;
  readonly #configuration: S3Configuration;
  readonly #outbound: Pick<Outbound, 'request'>;

  constructor(configuration: S3Configuration, outbound: Pick<Outbound, 'request'>, monotonic: () => number = () => performance.now()) {
    const { endpoint = `https://s3.${configuration.region}.amazonaws.com`, bucket, pathStyle = false } = configuration;
    const url = new URL(endpoint);
    this.name = bucket;
    this.identity = `${url.origin} ${bucket}`;
    const usesPath = pathStyle || isIP(hostOf(url.hostname)) !== 0; // an IP address has no subdomains
    this.#address = usesPath ? `${url.origin}/${encodeText(bucket)}/` : `${url.protocol}//${bucket}.${url.host}/`;
    this.#configuration = configuration;
    this.#outbound = outbound;
    this.monotonic = monotonic;
  }

  /**
   * Sends a signed request about a key; '' is the bucket. Sends it again if the service is overloaded, or cannot be reached for reading.
   * @returns the response, if it is a success or has an expected status
   * @throws StorageUnavailable; OutcomeUnknown for a change that may have taken place; the reason of the signal
   */
  async send(method: Method, key: string, request: S3Request = {}): Promise<OutboundResponse> {
    const { timeLimit = defaultTimeLimit } = request;
    const signal = request.signal ?? (timeLimit === null ? undefined : AbortSignal.timeout(timeLimit));
    return pRetry(() => this.#sendOnce(method, key, request, signal), {
      ...retries,
      shouldRetry: ({ error }) => !signal?.aborted && mayRetry(method, error),
    });
  }

  /** Sends a request and reads its response to the end. @returns the response without its body */
  async sendAndRead(method: Method, key: string, request?: S3Request): Promise<OutboundResponse> {
    const response = await this.send(method, key, request);
    await readBody(method, () => response.read(maxUnused));
    return response;
  }

  /** Reads a small object. @returns null if there is none. @throws StorageUnavailable */
  async readObject(key: string, maxBytes: number): Promise<string | null> {
    const response = await this.send('GET', key, { expected: [404] });
    const bytes = await readBody('GET', () => response.read(maxBytes));
    return response.status === 200 ? Buffer.from(bytes).toString() : null;
  }

  /**
   * Sends a request whose response is XML.
   * @throws StorageUnavailable also for an error in a response with status 200, as for a copy or a completed upload
   */
  async sendForXml(method: Method, key: string, request: Omit<S3Request, 'expected'> = {}): Promise<XmlElement> {
    return this.#readDocument(method, await this.send(method, key, request));
  }

  /** As `sendForXml`. Returns null for an expected status. */
  async sendForXmlOrNull(method: Method, key: string, request: S3Request): Promise<XmlElement | null> {
    const response = await this.send(method, key, request);
    if (response.status < 300) return this.#readDocument(method, response);
    await readBody(method, () => response.read(maxUnused));
    return null;
  }

  async #readDocument(method: Method, { status, body }: OutboundResponse): Promise<XmlElement> {
    const document = await readBody(method, () => readXml(body));
    if (document.name === 'Error') throw new ServiceError(status, codeOf(document));
    return document;
  }

  async #sendOnce(method: Method, key: string, request: S3Request, signal: AbortSignal | undefined): Promise<OutboundResponse> {
    const response = await this.#exchange(method, key, request, signal);
    if (response.status < 300 || request.expected?.includes(response.status)) return response;
    const headers = withoutConditions(request);
    if (response.status === 501 && headers !== null && isChange(method)) {
      await readBody(method, () => response.read(maxUnused));
      return this.#sendOnce(method, key, { ...request, headers }, signal); // the service does not know conditions
    }
    const cause = new ServiceError(response.status, await codeIn(response));
    throw response.status >= 500 && isChange(method) ? new OutcomeUnknown(cause.message, { cause }) : cause;
  }

  async #exchange(method: Method, key: string, request: S3Request, signal: AbortSignal | undefined): Promise<OutboundResponse> {
    const { query = {}, headers = {}, body, timeLimit = defaultTimeLimit } = request;
    const { region, accessKeyId, secretAccessKey, sessionToken } = this.#configuration;
    const signer = new AwsV4Signer({
      method,
      url: `${this.#address}${encodeKey(key)}?${encodeQuery(query)}`,
      headers: { ...headers },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: 's3',
      region,
    });
    const signed = await signer.sign();
    const slow = timeLimit !== null && timeLimit > defaultTimeLimit ? { headersTimeout: timeLimit } : {};
    try {
      return await this.#outbound.request(signed.url, {
        method,
        headers: Object.fromEntries(signed.headers),
        body: body ?? null,
        ...(signal ? { signal } : {}),
        ...slow,
      });
    } catch (cause) {
      if (request.signal?.aborted) throw request.signal.reason;
      throw noResponse(method, cause);
    }
  }
}
