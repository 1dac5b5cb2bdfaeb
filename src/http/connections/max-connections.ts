import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

const ownDescriptors = 144; // for the database, the threads, the log, and the sockets that listen
const descriptorsPerTransfer = 2; // a socket and a file
const descriptorsPerUpload = 3; // the folder of its staging file too
const manyDescriptors = 16_384;
// From `manyDescriptors` on, a third descriptor is reserved for only this many uploads. More uploads use the descriptors of idle
// connections: two are reserved for each connection, and an idle one uses only one.
const expectedUploads = 640;
const ownMemory = 512 << 20; // bytes: code, word searches, password checks
const memoryPerConnection = 100 << 10; // bytes, of a client that reads a download or an archive slowly
const minConnections = 512; // even with little memory

/** Returns how many descriptors this process may open, or null if none is known. Node.js has raised the soft limit to the hard limit. */
function descriptorLimit(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null; // not Linux
  }
}

/** Returns the memory in bytes that this process may use: that of its container, or of the machine. */
const memoryLimit = () => Math.min(totalmem(), process.constrainedMemory() || totalmem());

/** Returns how many connections leave enough descriptors for their downloads and uploads. */
function connectionsByDescriptors(limit: number): number {
  const free = limit - ownDescriptors;
  if (limit < manyDescriptors) return Math.max(16, Math.floor(free / descriptorsPerUpload));
  return Math.floor((free - expectedUploads) / descriptorsPerTransfer);
}

/**
 * Returns how many connections a process may have.
 * @param descriptors how many descriptors the process may open; null: any number
 * @param memory how many bytes of memory the process may use
 */
export function maxConnections(descriptors: number | null = descriptorLimit(), memory: number = memoryLimit()): number {
  const byMemory = Math.max(minConnections, Math.floor((memory - ownMemory) / memoryPerConnection));
  return descriptors === null ? byMemory : Math.min(byMemory, connectionsByDescriptors(descriptors));
}
