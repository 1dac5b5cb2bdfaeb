import { createHash } from 'node:crypto';
import type { TakenMemory } from '#adapters/storage/memory-budget.ts';
import { type OutboundBody, TargetRefused } from '#ports/outbound.ts';
import { StorageUnavailable } from '#ports/storage.ts';
import { type Method, mayChange, serviceErrorOf } from './s3-errors.ts';
import type { XmlLimits } from './s3-xml.ts';

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
  /** Whether a change may be sent again after any failure, because its result is the same. */
  readonly repeatable?: boolean;
  readonly signal?: AbortSignal;
}

/** A request whose response is XML. */
export type XmlRequest = Omit<S3Request, 'expected'> & {
  /** Default: those of a short document. */
  readonly limits?: XmlLimits;
  /** Memory that a long document takes. */
  readonly memory?: TakenMemory;
};

export const defaultTimeLimit = 60_000; // ms
export const retries = { retries: 2, minTimeout: 200, factor: 2, randomize: true, unref: true }; // minTimeout in ms
/** The codes with which a service refuses a request because it has too many. It has not begun to process the request. */
const throttlingCodes = ['SlowDown', 'RequestLimitExceeded', 'TooManyRequests', 'Throttling'];
const conditionHeaders = ['if-match', 'if-none-match', 'x-amz-copy-source-if-match'];
/** The codes with which a service refuses a body without a checksum, as a bucket with Object Lock does. */
export const md5Codes = ['InvalidRequest', 'MissingContentMD5'];

/**
 * Returns whether a failed request may be sent again: each request that only reads, and a change that the service has not begun. A
 * second attempt of another change could meet the result of the first one.
 */
export function mayRetry(method: Method, { repeatable = !mayChange(method) }: S3Request, cause: unknown): boolean {
  const error = serviceErrorOf(cause);
  if (error && (error.status === 429 || throttlingCodes.includes(error.code))) return true;
  if (!repeatable || !(cause instanceof StorageUnavailable) || cause.cause instanceof TargetRefused) return false;
  return !error || error.status >= 500;
}

/** Returns the headers of a request without its conditions, or null if it has none. */
export function withoutConditions({ headers = {} }: S3Request): Readonly<Record<string, string>> | null {
  const others = Object.entries(headers).filter(([name]) => !conditionHeaders.includes(name));
  return others.length === Object.keys(headers).length ? null : Object.fromEntries(others);
}

/** Returns the value of `content-md5` for a body. */
export async function md5Of(body: string | OutboundBody): Promise<string> {
  const hash = createHash('md5');
  if (typeof body === 'string') return hash.update(body).digest('base64');
  for await (const piece of body.pieces) hash.update(piece);
  return hash.digest('base64');
}
