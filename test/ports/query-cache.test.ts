import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryCache } from '#adapters/store/sqlite/query-cache.ts';

/** Queries records with a text of the given length, and counts the queries that the cache does not answer. */
function asking(length: number) {
  const unchanged = queryCache();
  let times = 0;
  const ask = (id: number) =>
    unchanged.get(`share 1 ${id}`, async () => {
      times += 1;
      return [{ id, userNames: 'u'.repeat(length) }];
    });
  return { ask, times: () => times, forget: unchanged.invalidate };
}

test('a record is queried once until a table outside the audit log changes', async () => {
  const { ask, times, forget } = asking(1000);
  for (let time = 0; time < 3; time += 1) for (let id = 0; id < 4000; id += 1) await ask(id);
  assert.equal(times(), 4000);
  forget(new Set(['audit']));
  await ask(0);
  assert.equal(times(), 4000);
  forget(new Set(['share']));
  await ask(0);
  assert.equal(times(), 4001);
});

test('a thousand records with long lists are not all cached', async () => {
  const { ask, times } = asking(200_000);
  for (let id = 0; id < 1000; id += 1) await ask(id);
  for (let id = 999; id >= 0; id -= 1) await ask(id);
  assert.ok(times() > 1900, `${times()} of 2,000 times`);
});

test('fifty records with long lists that are queried often stay cached', async () => {
  const { ask, times } = asking(200_000);
  for (let time = 0; time < 100; time += 1) for (let id = 0; id < 50; id += 1) await ask(id);
  assert.equal(times(), 50);
});
