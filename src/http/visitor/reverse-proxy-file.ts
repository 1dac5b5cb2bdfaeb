import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { inRanges, packRangeText } from '#core/authorization/address-range.ts';
import type { FileDownload } from '#features/visits/files/download-file.ts';
import { isSmall } from './send-bytes.ts';

/** The header that makes a reverse proxy send a file itself. */
type HandOverHeader = 'x-accel-redirect' | 'x-sendfile';

/** Returns the headers that hand a file over to the reverse proxy; null: Postern sends the bytes itself. */
export type ReverseProxyHeaders = (request: IncomingMessage, download: FileDownload) => OutgoingHttpHeaders | null;

/** nginx maps this path to the file system, for internal redirects only. */
const internalPath = '/postern-files';

/**
 * Returns the value of the header, the percent-encoded path of a file; null if reverse proxies would read it differently. nginx decodes
 * the value. Of the servers that read X-Sendfile, only some decode it, so `a%20b` would name different files.
 */
function headerValue(header: HandOverHeader, onDisk: string): string | null {
  const address = onDisk.split('/').map(encodeURIComponent).join('/');
  if (header === 'x-accel-redirect') return internalPath + address;
  return address === onDisk ? address : null;
}

/**
 * Returns a function that hands downloads of large files over to a reverse proxy. Postern authorizes the request; the reverse proxy
 * sends the bytes and handles ranges and conditions. A small file costs less to send than to hand over.
 * @param trusted addresses of the reverse proxies: only they may learn the path of a file
 */
export function reverseProxyFiles(header: HandOverHeader | null, trusted: readonly string[]): ReverseProxyHeaders {
  if (header === null || trusted.length === 0) return () => null;
  const proxies = packRangeText(trusted.join(' '));
  return ({ socket }, { file, onDisk, mediaType }) => {
    if (onDisk === null || isSmall(file.entry.size)) return null;
    if (!inRanges(proxies, socket.remoteAddress ?? '')) return null;
    const address = headerValue(header, onDisk);
    return address === null ? null : { 'content-type': mediaType, [header]: address };
  };
}
