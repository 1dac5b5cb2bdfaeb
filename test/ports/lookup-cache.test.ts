import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LookupCache } from '#adapters/store/sqlite/lookup-cache.ts';

/** Returns a lookup that counts its runs. @param tables that it reads @param length characters in its result */
function countedLookup(cache: LookupCache, tables: readonly string[], length = 1) {
  let runs = 0;
  const lookUp = (id: number | string) =>
    cache.get(`record ${id}`, async () => {
      runs += 1;
      cache.noteReads(() => tables);
      return [{ id, userNames: 'u'.repeat(length) }];
    });
  return { lookUp, runs: () => runs };
}

test('a lookup runs again only after a change of a table that it has read', async () => {
  const cache = new LookupCache();
  const { lookUp, runs } = countedLookup(cache, ['share', 'location']);
  await lookUp(1);
  cache.noteChanges(['visit_session', 'failure', 'audit', 'idempotency', 'job']);
  await lookUp(1);
  assert.equal(runs(), 1);
  cache.noteChanges(['audit', 'location']);
  await lookUp(1);
  assert.equal(runs(), 2);
  await lookUp(1);
  assert.equal(runs(), 2);
});

test('simultaneous lookups of the same key run once, and a lookup that begins after a change runs again', async () => {
  const cache = new LookupCache();
  const { lookUp, runs } = countedLookup(cache, ['share']);
  await Promise.all([lookUp(1), lookUp(1)]);
  assert.equal(runs(), 1);
  const { lookUp: lookUpOther, runs: otherRuns } = countedLookup(cache, ['share']);
  const before = lookUpOther(2);
  cache.noteChanges(['share']);
  await Promise.all([before, lookUpOther(2)]);
  assert.equal(otherRuns(), 2);
  await lookUpOther(2);
  assert.equal(otherRuns(), 2, 'the later result is cached');
});

test('a lookup that uses another lookup depends on the tables of both, even if the other result was cached', async () => {
  const cache = new LookupCache();
  const { lookUp: lookUpInner, runs: innerRuns } = countedLookup(cache, ['location']);
  let outerRuns = 0;
  const lookUpOuter = (key: string) =>
    cache.get(key, async () => {
      outerRuns += 1;
      const [record] = await lookUpInner('inner');
      cache.noteReads(() => ['share']);
      return record;
    });
  await lookUpOuter('first');
  await lookUpOuter('second'); // the inner result is cached
  cache.noteChanges(['location']);
  await lookUpOuter('first');
  await lookUpOuter('second');
  assert.deepEqual([outerRuns, innerRuns()], [4, 2]);
});

test('a lookup that fails is not cached', async () => {
  const cache = new LookupCache();
  await assert.rejects(cache.get('record', () => Promise.reject(new Error('unavailable'))));
  assert.equal(await cache.get('record', async () => 1), 1);
});

test('a thousand records with long lists are not all cached, and those that are used often stay', async () => {
  const { lookUp, runs } = countedLookup(new LookupCache(), ['share'], 200_000);
  for (let time = 0; time < 100; time += 1) for (let id = 0; id < 50; id += 1) await lookUp(id);
  assert.equal(runs(), 50);
  for (let id = 1000; id < 2000; id += 1) for (const usedId of [id, 1]) await lookUp(usedId);
  assert.equal(runs(), 1050, 'the record in use stayed in the cache');
  for (let id = 1999; id >= 1000; id -= 1) await lookUp(id);
  assert.ok(runs() > 1900, `${runs()} runs of 2,050`);
});
