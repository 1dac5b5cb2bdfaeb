// A fake of the thread that sends requests to providers. A request to the host `blocks` blocks the thread, a request to
// `dies` ends the thread, and a request to `silent` gets no response.
import { parentPort } from 'node:worker_threads';
import type { ProviderTask } from '#adapters/identity/provider-tasks.ts';

parentPort?.on('message', (task: ProviderTask) => {
  const url = 'http' in task ? task.http.url : 'directory' in task ? task.directory.directory.url : 'http://works';
  const host = new URL(url).hostname;
  if (host === 'blocks') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (host === 'dies') process.exit(1);
  if (host === 'silent') return;
  parentPort?.postMessage({ id: task.id, value: { status: 200, headers: {}, content: Buffer.from('text') } });
});
