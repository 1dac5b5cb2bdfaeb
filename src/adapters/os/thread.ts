import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** The script of a thread beside its module: TypeScript in a checkout, JavaScript once built. */
const threadUrl = (name: string, beside: string) => new URL(`${name}${extname(new URL(beside).pathname)}`, beside);

// A thread that makes system calls needs no heap to speak of.
const limits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 256 };

/**
 * Starts a thread of ours. A descriptor opened in one thread may be closed in another: none of them owns it.
 * @param keeps bytes that it keeps beside what every thread needs
 */
export const startThread = (name: string, beside: string, workerData?: unknown, keeps = 0) =>
  new Worker(threadUrl(name, beside), {
    workerData,
    // What is kept is moved about when it changes: room for it twice.
    resourceLimits: { ...limits, maxOldGenerationSizeMb: limits.maxOldGenerationSizeMb + Math.ceil((2 * keeps) / 2 ** 20) },
    trackUnmanagedFds: false,
  });
