import type { IncomingMessage } from 'node:http';
import { partType } from '#core/upload-metadata.ts';

/** Returns whether the Content-Type that the client has sent is that of a part of a file. The routes of uploads replace `headers`. */
export function isPart({ rawHeaders }: IncomingMessage): boolean {
  const index = rawHeaders.findIndex((name, position) => position % 2 === 0 && name.toLowerCase() === 'content-type');
  return rawHeaders[index + 1]?.split(';', 1)[0]?.trim().toLowerCase() === partType;
}
