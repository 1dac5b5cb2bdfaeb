import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/**
 * Returns the URL of a thread's or a process's script in the folder of a module: TypeScript in a checkout, one JavaScript file in a build.
 */
export const scriptUrl = (name: string, moduleUrl: string) =>
  new URL(`${name}${extname(new URL(moduleUrl).pathname) === '.ts' ? '.ts' : '.mjs'}`, moduleUrl);

// Most threads only make system calls, so a small young generation is enough for them.
const heapLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 256 };

/**
 * Starts a thread. A descriptor that one thread opened may be closed by another, so Node.js must not track descriptors per thread.
 * @param name the script, relative to `moduleUrl`, without its extension
 * @param moduleUrl `import.meta.url` of the calling module
 * @param dataSize the most bytes of data that the thread keeps in its heap
 */
export const startThread = (name: string, moduleUrl: string, workerData?: unknown, dataSize = 0) =>
  new Worker(scriptUrl(name, moduleUrl), {
    workerData,
    // A thread may copy its data to change it, so there must be space for two copies.
    resourceLimits: { ...heapLimits, maxOldGenerationSizeMb: heapLimits.maxOldGenerationSizeMb + Math.ceil((2 * dataSize) / 2 ** 20) },
    trackUnmanagedFds: false,
  });

const endTimeout = 2000; // ms

const blockedThreads = new Set<Worker>();

/** Returns whether a thread that `endThread` ends still runs, blocked by a system call. `process.exit` would wait for it. */
export const hasBlockedThread = (): boolean => blockedThreads.size > 0;

/** Ends a thread. Does not wait longer than two seconds for one that is blocked by a system call. */
export async function endThread(thread: Worker): Promise<void> {
  const termination = thread.terminate().then(() => blockedThreads.delete(thread));
  blockedThreads.add(thread);
  thread.unref();
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, endTimeout);
  await Promise.race([termination, timeout.promise]);
  clearTimeout(timer);
}
