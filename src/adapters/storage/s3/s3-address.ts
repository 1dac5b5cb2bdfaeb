import { isIP } from 'node:net';
import { encodeText } from '#adapters/storage/objects/encode-key.ts';
import { hostOf } from '#core/host-of.ts';
import type { S3Configuration } from '#core/records/location-configurations.ts';

/** Returns the address of a bucket at an endpoint. */
export function bucketAddress({ bucket, pathStyle = false }: S3Configuration, endpoint: string): string {
  const url = new URL(endpoint);
  const usesPath = pathStyle || isIP(hostOf(url.hostname)) !== 0; // an IP address has no subdomains
  return usesPath ? `${url.origin}/${encodeText(bucket)}/` : `${url.protocol}//${bucket}.${url.host}/`;
}
