import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitChanges } from './change-limits.ts';

const busy = { messageName: 'changesBusy' };
const caller = (tid: number, id: number) => ({ tid, kind: 'key', id }) as const;
const noChange = async () => {};

/** Calls `start` `count` times. @returns a promise for each change: it resolves to the result, or to the refusal */
function startChanges(count: number, start: () => Promise<unknown>): Promise<unknown>[] {
  return Array.from({ length: count }, () => start().catch((cause: unknown) => cause));
}

test('unfinished changes of a tenant are limited in bytes, and other tenants are not affected', async () => {
  const runLimited = limitChanges();
  const gate = Promise.withResolvers<void>();
  const changes = [1, 2].flatMap((id) => startChanges(32, () => runLimited(caller(1, id), 1 << 20, () => gate.promise)));
  await assert.rejects(runLimited(caller(1, 3), 100, noChange), busy);
  assert.equal(await runLimited(caller(2, 1), 1 << 20, async () => 'of another tenant'), 'of another tenant');
  gate.resolve();
  await Promise.all(changes);
  assert.equal(await runLimited(caller(1, 3), 100, async () => 'there is room'), 'there is room');
});

test('a caller with many long changes leaves room for the changes of other callers of its tenant', async () => {
  const runLimited = limitChanges();
  const gate = Promise.withResolvers<void>();
  const changes = startChanges(32, () => runLimited(caller(1, 1), 1 << 20, () => gate.promise));
  await assert.rejects(runLimited(caller(1, 1), 100, noChange), busy);
  for (const bytes of [100, 1 << 20]) assert.equal(await runLimited(caller(1, 2), bytes, async () => 'not delayed'), 'not delayed');
  gate.resolve();
  await Promise.all(changes);
});

test('a caller does not wait for hundreds of changes of another caller of its tenant; if too many changes wait, one is refused', async () => {
  const runLimited = limitChanges();
  const gate = Promise.withResolvers<void>();
  const refusals: unknown[] = [];
  const start = (id: number) => runLimited(caller(1, id), 100, () => gate.promise).catch((cause) => refusals.push(cause));
  const ofFirst = Array.from({ length: 288 }, () => start(1)); // 32 run, 256 wait
  assert.equal(await runLimited(caller(1, 2), 100, async () => 'not delayed'), 'not delayed');
  const ofSecond = Array.from({ length: 9 }, () => start(2)); // 8 run, 1 waits
  await new Promise(setImmediate);
  assert.equal(refusals.length, 1);
  gate.resolve();
  await Promise.all([...ofFirst, ...ofSecond]);
  assert.equal(await runLimited(caller(1, 1), 100, async () => 'there is room'), 'there is room');
});
