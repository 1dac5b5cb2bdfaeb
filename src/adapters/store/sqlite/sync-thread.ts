import { fdatasyncSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

// A thread of its own: four hung file operations would fill libuv's pool, and then no change would ever get a response.
parentPort?.on('message', (descriptor: number) => {
  fdatasyncSync(descriptor);
  parentPort?.postMessage(descriptor);
});
