import { createHmac } from 'node:crypto';
import type { SignedHeaders } from '#ports/storage.ts';
import type { AzureAddress } from './azure-address.ts';

/** Version of the API of both services (Blob and Data Lake) that requests and signatures use. */
export const serviceVersion = '2021-12-02';

/** Headers whose values a signature covers, in this order. The headers that begin with `x-ms-` follow them. */
const signedHeaders = [
  ...['content-encoding', 'content-language', 'content-length', 'content-md5', 'content-type', 'date'],
  ...['if-modified-since', 'if-match', 'if-none-match', 'if-unmodified-since', 'range'],
];

const hmac = (key: string, text: string) => createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');

/** Compares names as the service does: an underscore comes before digits and letters. */
const compare = (left: string, right: string) => (left.replaceAll('_', '!') < right.replaceAll('_', '!') ? -1 : 1);

export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns the header `authorization` of a request ("Authorize with Shared Key" in the documentation of Azure Storage).
 * @param key of the account, in base64
 */
export function sharedKeyOf(account: string, key: string, { method, url, query, headers }: UnsignedRequest): string {
  const serviceHeaders = Object.entries(headers)
    .filter(([name]) => name.startsWith('x-ms-'))
    .sort(([left], [right]) => compare(left, right))
    .map(([name, value]) => `${name}:${value.trim()}\n`);
  const parameters = Object.entries(query)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .sort(([left], [right]) => compare(left, right))
    .map(([name, value]) => `\n${name}:${value}`);
  const values = signedHeaders.map((name) => `${headers[name] ?? ''}\n`);
  const text = `${method}\n${values.join('')}${serviceHeaders.join('')}/${account}${url.pathname}${parameters.join('')}`;
  return `SharedKey ${account}:${hmac(key, text)}`;
}

/**
 * Returns the query of an address at which a blob can be downloaded ("Create a service SAS").
 * @param key of the account, in base64
 * @param until ms since the epoch
 */
export function downloadSignature(
  { account, container }: AzureAddress,
  key: string,
  blob: string,
  { contentType, contentDisposition }: SignedHeaders,
  until: number,
): Readonly<Record<string, string>> {
  const expiry = new Date(until).toISOString().replace(/\.\d+/, '');
  const cacheControl = 'private, no-store';
  const fields = {
    ...{ sp: 'r', st: '', se: expiry, resource: `/blob/${account}/${container}/${blob}`, si: '', sip: '', spr: '' },
    ...{ sv: serviceVersion, sr: 'b', snapshot: '', ses: '', rscc: cacheControl, rscd: contentDisposition, rsce: '', rscl: '' },
    rsct: contentType,
  };
  const { sp, se, sv, sr, rscc, rscd, rsct } = fields;
  return { sp, se, sv, sr, rscc, rscd, rsct, sig: hmac(key, Object.values(fields).join('\n')) };
}
