import { readFileSync } from 'node:fs';

const ownDescriptors = 128; // of the database, the threads and the log
const descriptorsOfTransfer = 2; // a socket and a file
const descriptorsOfUpload = 3; // the folder of its staging copy too
const manyDescriptors = 16_384;
const uploadsAmongMany = 640; // more than that come from many networks, and connections that transfer nothing make up for them

/** How many descriptors this process may have open; Node.js has raised its limit as far as it may. */
function descriptorLimit(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null; // no Linux, or no limit
  }
}

/** How many connections leave enough descriptors for what they transfer, in either direction; undefined: there is no limit. */
export function mostConnections(limit: number | null = descriptorLimit()): number | undefined {
  if (limit === null) return undefined;
  const free = limit - ownDescriptors;
  if (limit < manyDescriptors) return Math.max(16, Math.floor(free / descriptorsOfUpload));
  return Math.floor((free - uploadsAmongMany) / descriptorsOfTransfer);
}
