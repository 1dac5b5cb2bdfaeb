import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

test('a new list thread answers a request for more entries of an unknown folder with an error', async (t) => {
  const thread = new Worker(new URL('../../src/adapters/storage/disk/list-thread.ts', import.meta.url));
  t.after(() => thread.terminate());
  const answered = once(thread, 'message');
  thread.postMessage({ number: 7, action: 'next', descriptor: 0 });
  assert.deepEqual((await answered)[0], { number: 7, entries: [], total: 0, problem: 'EIO' });
});
