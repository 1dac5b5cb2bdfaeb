import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startWithBlockedMethod } from '../parts/intercepted-postern.ts';
import { until } from '../ports/until.ts';
import { createShare } from './visiting.ts';

/** Counts the requests that the servers of this process receive. */
function countRequests(t: TestContext): () => number {
  let count = 0;
  const add = () => {
    count += 1;
  };
  subscribe('http.server.request.start', add);
  t.after(() => unsubscribe('http.server.request.start', add));
  return () => count;
}

test('a waiting change whose client closes the connection does not take place, unless it has an Idempotency-Key', {
  timeout: 20_000,
}, async (t) => {
  const { postern, calls, release } = await startWithBlockedMethod(t, 'storage.createFolder');
  const { base } = await createShare(postern);
  const receivedCount = countRequests(t);
  const client = new AbortController();
  const create = (name: string, init: RequestInit = {}) => postern.visit(`${base}/folder/${name}`, { method: 'POST', ...init });
  const firstRequests = [create('first'), create('second')]; // a wide network may run two changes at a location at once
  await until(async () => calls() === 2);
  const before = receivedCount();
  const abandonedRequests = [
    create('abandoned', { signal: client.signal }),
    create('with-key', { signal: client.signal, headers: { 'idempotency-key': 'a-key' } }),
  ];
  await until(async () => receivedCount() === before + 2);
  client.abort();
  for (const request of abandonedRequests) await assert.rejects(request);
  const lastRequest = create('last');
  await until(async () => receivedCount() === before + 3);
  release();
  for (const { status } of await Promise.all([...firstRequests, lastRequest])) assert.equal(status, 201);
  const exists = (name: string) =>
    access(join(postern.files, name)).then(
      () => true,
      () => false,
    );
  await until(() => exists('with-key'));
  assert.equal(await exists('abandoned'), false);
});
