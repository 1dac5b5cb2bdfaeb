import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { codeTurns } from '#features/turns/code-turns.ts';

test('a request for a code gets its response at once, but its turn ends only after a pause; then the next requests start together', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { run } = codeTurns();
  const startedRequests: number[] = [];
  const requests = Array.from({ length: 20 }, (_, index) => run(`10.${index}.0.1`, async () => startedRequests.push(index)));
  await Promise.all(requests.slice(0, 8));
  await setImmediate();
  assert.equal(startedRequests.length, 8);
  t.mock.timers.tick(120);
  await Promise.all(requests.slice(0, 16));
  await setImmediate();
  assert.equal(startedRequests.length, 16);
  t.mock.timers.tick(120);
  await Promise.all(requests);
});

test('a request for a code that fails rejects with its error, and its turn also ends only after the pause', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { run } = codeTurns();
  const failing = Array.from({ length: 8 }, () => run('10.0.0.1', () => Promise.reject(new Error('no mail server'))));
  await Promise.all(failing.map((request) => assert.rejects(request, /no mail server/)));
  let hasStarted = false;
  const next = run('10.0.0.2', async () => {
    hasStarted = true;
  });
  await setImmediate();
  assert.equal(hasStarted, false);
  t.mock.timers.tick(120);
  await next;
});
