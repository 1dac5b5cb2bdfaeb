import { fdatasyncSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

// Syncs files in a thread of its own: hung file operations can fill libuv's pool, and then no change would ever get a response.
parentPort?.on('message', (descriptor: number) => {
  fdatasyncSync(descriptor);
  parentPort?.postMessage(descriptor);
});
