import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { inRanges, packList } from '#core/policy/address-range.ts';
import type { FileDownload } from '#features/visits/files/download-file.ts';
import { isSmall } from './send-bytes.ts';

/** Header by which a front server is told to send a file itself. */
type HandOverHeader = 'x-accel-redirect' | 'x-sendfile';

/** What to answer in place of a file's bytes; null: they are ours to send. */
export type FrontServerHeaders = (request: IncomingMessage, handedOut: FileDownload) => OutgoingHttpHeaders | null;

/** Below this address nginx finds the file system, for internal redirects alone. */
const internal = '/postern-files';

/**
 * What a header says of a file's path; null: nothing that every front server reads alike. nginx decodes the address; of
 * those that read X-Sendfile some do and some do not, so that `a%20b` would be another file at one of them.
 */
function addressOf(header: HandOverHeader, onDisk: string): string | null {
  const address = onDisk.split('/').map(encodeURIComponent).join('/');
  if (header === 'x-accel-redirect') return internal + address;
  return address === onDisk ? address : null;
}

/**
 * Hands large files over to a front server: the decision is made, the bytes are its own to send, with ranges and
 * conditions. A small one costs less to send than to hand over.
 * @param trusted who may be told where a file lies: nobody else is
 */
export function frontServerFiles(header: HandOverHeader | null, trusted: readonly string[]): FrontServerHeaders {
  if (header === null || trusted.length === 0) return () => null;
  const proxies = packList(trusted.join(' '));
  return ({ socket }, { file, onDisk, mediaType }) => {
    if (onDisk === null || isSmall(file.entry.size)) return null;
    if (!inRanges(proxies, socket.remoteAddress ?? '')) return null;
    const address = addressOf(header, onDisk);
    return address === null ? null : { 'content-type': mediaType, [header]: address };
  };
}
