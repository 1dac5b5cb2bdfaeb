import pRetry from 'p-retry';
import type { MemoryReservation } from '#core/memory-budget.ts';
import { type Outbound, type OutboundBody, type OutboundResponse, TargetRefused } from '#ports/outbound.ts';
import { OutcomeUnknown, StorageUnavailable } from '#ports/storage-errors.ts';
import type { ObjectRange, WriteCondition } from './object-store.ts';
import { type Method, mayChange, noResponseError, serviceErrorOf } from './service-errors.ts';
import { readXml, type XmlElement, type XmlLimits } from './xml.ts';

/** A request about an object, a file or a folder, or about the bucket or container. */
export interface ServiceRequest {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its pieces must be readable again: a request may be sent several times. */
  readonly body?: string | OutboundBody;
  /** Statuses of 300 or more that the caller interprets. All others are errors. */
  readonly expected?: readonly number[];
  /**
   * ms for all attempts until the response is read, if there is no signal. Default: a minute. null: for a streamed response; only the time
   * until its headers is limited.
   */
  readonly timeLimit?: number | null;
  /** Whether a change may be sent again even if the service may have made it, because the result is the same. */
  readonly repeatable?: boolean;
  /** true: the request is not repeated by `sendWithRetries`, not even if the service has too many requests. */
  readonly once?: boolean;
  readonly signal?: AbortSignal;
}

/** A request whose response is XML. */
export type XmlRequest = Omit<ServiceRequest, 'expected'> & {
  /** Default: the limits of a short document. */
  readonly limits?: XmlLimits;
  /** Memory that a long document takes. */
  readonly memory?: MemoryReservation;
};

interface SignedRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

export const maxSkippedBytes = 1 << 16; // limit of a response whose content is not needed
const defaultTimeLimit = 60_000; // ms
export const bodyTimeLimit = 600_000; // ms until a part of an upload is stored
export const slowTimeLimit = 600_000; // ms: a service may copy or join gigabytes before it responds
const retries = { retries: 2, minTimeout: 200, factor: 2, randomize: true, unref: true }; // minTimeout in ms

/**
 * Returns whether a failed request may be sent again. If the service has too many requests, it has not processed this one.
 * If it did not respond or answered 5xx, it may have made the change, so only a read or a repeatable change is sent again.
 */
function mayRetry(method: Method, { repeatable = !mayChange(method), once = false }: ServiceRequest, cause: unknown): boolean {
  if (once) return false;
  const error = serviceErrorOf(cause);
  if (error?.isThrottling) return true;
  if (!repeatable || !(cause instanceof StorageUnavailable) || cause.cause instanceof TargetRefused) return false;
  return !error || error.status >= 500;
}

/** Sends a request, and repeats it up to twice after failures that may be temporary. @param attempt sends it once */
export function sendWithRetries(
  method: Method,
  request: ServiceRequest,
  attempt: (signal: AbortSignal | undefined) => Promise<OutboundResponse>,
): Promise<OutboundResponse> {
  const { timeLimit = defaultTimeLimit } = request;
  const signal = request.signal ?? (timeLimit === null ? undefined : AbortSignal.timeout(timeLimit));
  return pRetry(() => attempt(signal), { ...retries, shouldRetry: ({ error }) => !signal?.aborted && mayRetry(method, request, error) });
}

/**
 * Sends a signed request for a tenant.
 * @param signal of `sendWithRetries`: the same for all attempts
 * @throws StorageUnavailable or OutcomeUnknown if there is no response; the reason of `ServiceRequest.signal` if that has aborted
 */
export async function sendSigned(
  outbound: Pick<Outbound, 'request'>,
  tid: number,
  method: Method,
  { url, headers }: SignedRequest,
  { body, timeLimit = defaultTimeLimit, signal: callerSignal }: ServiceRequest,
  signal: AbortSignal | undefined,
): Promise<OutboundResponse> {
  const slow = timeLimit !== null && timeLimit > defaultTimeLimit ? { headersTimeout: timeLimit } : {};
  try {
    return await outbound.request(url, { method, tid, headers, body: body ?? null, ...(signal ? { signal } : {}), ...slow });
  } catch (cause) {
    if (callerSignal?.aborted) throw callerSignal.reason;
    throw noResponseError(method, cause);
  }
}

/** Returns the request for an object or a part of it. The caller interprets the statuses 404, 412 (another version) and 416. */
export const rangeRequest = ({ range, etag, streamed = false, signal }: ObjectRange) => ({
  headers: {
    ...(range ? { range: `bytes=${range[0]}-${range[1]}` } : {}),
    ...(etag === undefined ? {} : { 'if-match': etag }),
  },
  expected: [404, 412, 416],
  ...(streamed ? { timeLimit: null } : {}),
  ...(signal ? { signal } : {}),
});

/** Returns the statuses that mean that a condition is not met. A service may answer 404 if the object to replace was deleted. */
export function conditionFailedStatuses(condition: WriteCondition): readonly number[] {
  if (condition === 'none') return [];
  return condition === 'absent' ? [409, 412] : [404, 409, 412];
}

const readError = (method: Method, cause: unknown) => (cause instanceof StorageUnavailable ? cause : noResponseError(method, cause));

/** Reads a response to its end. @throws OutcomeUnknown, StorageUnavailable if the connection is lost, or the response is too long */
export async function readBody<T>(method: Method, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw readError(method, cause);
  }
}

/** Yields the pieces of a response. @throws OutcomeUnknown, StorageUnavailable if the connection is lost */
export async function* readPieces(method: Method, { body }: OutboundResponse): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw readError(method, cause);
  }
}

/** Reads a response whose content is not needed. */
export const skipBody = (method: Method, response: OutboundResponse): Promise<Uint8Array> =>
  readBody(method, () => response.read(maxSkippedBytes));

/**
 * Reads a response that must be XML.
 * @param root name of its document element
 * @param errorOf returns the error that a document describes, or null: some services send an error with status 200
 * @param monotonic returns ms of a monotonic clock
 */
export async function readDocument(
  method: Method,
  root: string,
  { body }: OutboundResponse,
  errorOf: (document: XmlElement) => Error | null,
  monotonic: () => number,
  { limits, memory }: XmlRequest = {},
): Promise<XmlElement> {
  const document = await readBody(method, () => readXml(body, monotonic, limits, memory));
  const error = errorOf(document);
  if (error) throw error;
  if (document.name === root) return document;
  throw new (mayChange(method) ? OutcomeUnknown : StorageUnavailable)(`the service sent a document other than ${root}`);
}
