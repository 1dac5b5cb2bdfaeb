import { readFileSync } from 'node:fs';

const ownDescriptors = 144; // for the database, the threads, the log, and the sockets that listen
const descriptorsPerTransfer = 2; // a socket and a file
const descriptorsPerUpload = 3; // the folder of its staging file too
const manyDescriptors = 16_384;
// More uploads than this come from many networks. Their third descriptor is available, because idle connections use only one of the two
// descriptors that are reserved for each connection.
const expectedUploads = 640;

/** Returns how many descriptors this process may open, or null without a limit. Node.js has raised the limit to its maximum. */
function descriptorLimit(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null; // not Linux, or no limit
  }
}

/** Returns how many connections leave enough descriptors for their transfers, in either direction; undefined without a limit. */
export function maxConnections(limit: number | null = descriptorLimit()): number | undefined {
  if (limit === null) return undefined;
  const free = limit - ownDescriptors;
  if (limit < manyDescriptors) return Math.max(16, Math.floor(free / descriptorsPerUpload));
  return Math.floor((free - expectedUploads) / descriptorsPerTransfer);
}
