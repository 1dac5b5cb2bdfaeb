import { isIP } from 'node:net';
import { hostOf } from '#core/host-of.ts';
import type { S3Configuration } from '#core/records/location-configurations.ts';

/** RFC 3986, section 2.3: all but unreserved characters are encoded, since the signature is computed from the encoded text. */
const encodeText = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
/** Returns a key as part of a URL, or of the header `x-amz-copy-source`. */
export const encodeKey = (key: string): string => key.split('/').map(encodeText).join('/');

/** Returns a query without its `?`. */
export const encodeQuery = (query: Readonly<Record<string, string>>) =>
  Object.entries(query)
    .map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`)
    .join('&');

/** Returns the address of a bucket at an endpoint. */
export function bucketAddress({ bucket, pathStyle = false }: S3Configuration, endpoint: string): string {
  const url = new URL(endpoint);
  const usesPath = pathStyle || isIP(hostOf(url.hostname)) !== 0; // an IP address has no subdomains
  return usesPath ? `${url.origin}/${encodeText(bucket)}/` : `${url.protocol}//${bucket}.${url.host}/`;
}
