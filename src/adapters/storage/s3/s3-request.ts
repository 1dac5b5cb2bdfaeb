import { createHash } from 'node:crypto';
import type { Method } from '#adapters/storage/objects/service-errors.ts';
import type { ServiceRequest } from '#adapters/storage/objects/service-request.ts';
import type { OutboundBody } from '#ports/outbound.ts';

const conditionHeaders = ['if-match', 'if-none-match', 'x-amz-copy-source-if-match'];
/** Error codes with which a service refuses a body without a checksum, for example for a bucket with Object Lock. */
export const md5Codes = ['InvalidRequest', 'MissingContentMD5'];

/** Returns the headers of a request without its conditions, or null if the request has no conditions. */
export function withoutConditions({ headers = {} }: ServiceRequest): Readonly<Record<string, string>> | null {
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

/** Returns whether a request stores an object or a part of one, or begins to. */
export const storesObject = (method: Method, { query }: ServiceRequest): boolean => method === 'PUT' || query?.['uploads'] !== undefined;
