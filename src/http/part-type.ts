import type { IncomingMessage } from 'node:http';
import { partType } from '#core/upload-metadata.ts';

/**
 * Returns whether the client has sent the Content-Type of a part of a file. Reads `rawHeaders`, because the upload routes replace the type
 * in `headers`.
 */
export function isPart({ rawHeaders }: IncomingMessage): boolean {
  const index = rawHeaders.findIndex((name, position) => position % 2 === 0 && name.toLowerCase() === 'content-type');
  return rawHeaders[index + 1]?.split(';', 1)[0]?.trim().toLowerCase() === partType;
}
