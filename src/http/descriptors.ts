import { readFileSync } from 'node:fs';

const ownDescriptors = 128; // of the database, the threads and the log
const descriptorsOfConnection = 2; // its socket, and the file that it transfers

/** How many descriptors this process may have open; Node.js has raised its limit as far as it may. */
function descriptorLimit(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null; // no Linux, or no limit
  }
}

/** How many connections leave enough descriptors for what they transfer; undefined: there is no limit. */
export function mostConnections(limit: number | null = descriptorLimit()): number | undefined {
  return limit === null ? undefined : Math.max(16, Math.floor((limit - ownDescriptors) / descriptorsOfConnection));
}
