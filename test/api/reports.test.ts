import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { appendAuditEntry } from '#features/audit/audit-entry.ts';
import { type VisitorCounts, visitorDays } from '#features/audit/visitor-counts.ts';
import { callerGroups, reportTurns } from '#features/turns/search-turns.ts';
import type { Store } from '#ports/store.ts';
import { type Json, newShare, startPostern } from '../start.ts';

const [minute, day] = [60_000, 86_400_000]; // ms
const runAtOnce = <T>(query: () => Promise<T>) => query();

interface Entry {
  readonly at: number;
  readonly actor: string;
  readonly actorKind?: 'visitor' | 'key';
  readonly address: string;
  readonly action: 'visit' | 'download' | 'upload';
}

const addEntries = (store: Store, share: { id: number; viewId: string }, entries: readonly Entry[]) =>
  store.write(
    async (tx) => {
      for (const { at, actor, actorKind = 'visitor', address, action } of entries)
        await appendAuditEntry(tx, {
          ...{
            tid: 1,
            at,
            actor,
            actorKind,
            address,
            action,
            outcome: 'done',
            path: '',
            bytes: null,
            before: null,
            after: null,
          },
          ...{ requestId: '', process: null, share: { ...share, title: 'Share' } },
        });
    },
    { tenant: 1 },
  );

/** Computes the expected sums from all entries together, without windows. */
function countAtOnce(entries: readonly Entry[]) {
  const groups = Map.groupBy(entries, ({ at, actor }) => JSON.stringify([at - (at % day), actor]));
  return [...groups].map(([key, ofDay]) => {
    const count = (action: string) => ofDay.filter((entry) => entry.action === action).length;
    const visits = new Set(ofDay.map(({ at, address }) => `${address} ${Math.floor(at / (30 * minute))}`)).size;
    return { key, visits, downloads: count('download'), uploads: count('upload'), last: Math.max(...ofDay.map(({ at }) => at)) };
  });
}

function addUp(windows: readonly (readonly VisitorCounts[])[]) {
  const sums = new Map<string, { visits: number; downloads: number; uploads: number; last: number }>();
  for (const { start, visitor, visits, downloads, uploads, last } of windows.flat()) {
    const key = JSON.stringify([start, visitor]);
    const sum = sums.get(key) ?? { visits: 0, downloads: 0, uploads: 0, last: 0 };
    sums.set(key, {
      visits: sum.visits + visits,
      downloads: sum.downloads + downloads,
      uploads: sum.uploads + uploads,
      last: Math.max(sum.last, last),
    });
  }
  return [...sums].map(([key, counts]) => ({ key, ...counts }));
}

const byKey = (one: { key: string }, other: { key: string }) => (one.key < other.key ? -1 : 1);

test('an activity report is read in parts (windows): the counts of all windows add up to the counts over all entries, and each window lists the latest visitors first', async (t) => {
  const { call, ports } = await startPostern(t);
  const start = Date.parse('2026-03-01T00:00:00Z');
  const anyEntry = fc.record({
    at: fc.integer({ min: start, max: start + 3 * day }),
    actor: fc.constantFrom('ann', 'bob', ''),
    address: fc.constantFrom('10.0.0.1', '10.0.0.2'),
    action: fc.constantFrom('visit' as const, 'download' as const, 'upload' as const),
  });
  const check = async (entries: readonly Entry[], max: number) => {
    const { id, viewId } = await call('share/add', newShare());
    await addEntries(ports.store, { id, viewId }, entries);
    const range = { tid: 1, shareId: id, from: null, before: null };
    const windows = await Array.fromAsync(visitorDays(ports.store.reports, range, runAtOnce, max));
    assert.deepEqual(addUp(windows).sort(byKey), countAtOnce(entries).sort(byKey));
    assert.deepEqual(
      windows.map((days) => days.map(({ last }) => last)),
      windows.map((days) => days.map(({ last }) => last).sort((one, other) => other - one)),
    );
  };
  await fc.assert(fc.asyncProperty(fc.array(anyEntry, { maxLength: 30 }), fc.integer({ min: 1, max: 8 }), check), { numRuns: 15 });
  const entryOf35Minutes = anyEntry.map((entry) => ({ ...entry, at: start + (entry.at % (35 * minute)) }));
  await fc.assert(fc.asyncProperty(fc.array(entryOf35Minutes, { maxLength: 30 }), fc.integer({ min: 1, max: 8 }), check), { numRuns: 15 });
});

test('a half hour with more entries than a window may hold is read in parts, and each of its visits counts once', async (t) => {
  const { call, ports } = await startPostern(t);
  const { id, viewId } = await call('share/add', newShare());
  const start = Date.parse('2026-03-01T00:00:00Z');
  const entries = Array.from({ length: 12 }, (_, index) => ({
    ...{ at: start + index, actor: 'ann', address: `10.0.0.${index % 2}`, action: 'visit' as const },
  }));
  await addEntries(ports.store, { id, viewId }, entries);
  const range = { tid: 1, shareId: id, from: null, before: start + day };
  const windows = await Array.fromAsync(visitorDays(ports.store.reports, range, runAtOnce, 8));
  assert.equal(windows.length, 6);
  assert.deepEqual(
    windows.map((days) => days.map(({ visits }) => visits)),
    [
      [1, 1],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ],
  );
});

test('a report reads a limited number of entries in each turn, even if it counts none of them', async (t) => {
  const { call, ports } = await startPostern(t);
  const { id, viewId } = await call('share/add', newShare());
  const start = Date.parse('2026-03-01T00:00:00Z');
  const entriesOfKey = Array.from({ length: 100 }, (_, index) => ({
    ...{ at: start + index * 60 * minute, actor: 'key', actorKind: 'key' as const, address: '10.0.0.1', action: 'visit' as const },
  }));
  await addEntries(ports.store, { id, viewId }, entriesOfKey);
  for (const shareId of [id, null]) {
    const range = { tid: 1, shareId, from: null, before: start + 10 * day };
    const windows = await Array.fromAsync(visitorDays(ports.store.reports, range, runAtOnce, 10));
    assert.deepEqual([windows.length, windows.flat().length], [10, 0]);
  }
});

test('only one report of a tenant runs at a time, and a report does not wait for reports of other tenants', async () => {
  const { reports } = reportTurns();
  const { signal } = new AbortController();
  const order: string[] = [];
  const startPromises = new Map(['one', 'two', 'other'].map((name) => [name, Promise.withResolvers<void>()]));
  const end = Promise.withResolvers<void>();
  const run = (tid: number, name: string) =>
    reports.run({ tid, groups: callerGroups(name) }, signal, async () => {
      order.push(name);
      startPromises.get(name)?.resolve();
      await end.promise;
    });
  const all = [run(1, 'one'), run(1, 'two'), run(2, 'other')];
  await startPromises.get('other')?.promise;
  assert.deepEqual(order, ['one', 'other']);
  end.resolve();
  await Promise.all(all);
  assert.deepEqual(order, ['one', 'other', 'two']);
});

test('a report of one tenant does not wait until a long report of another tenant is complete', async (t) => {
  const { call, ports } = await startPostern(t);
  const { id, viewId } = await call('share/add', newShare());
  const start = Date.parse('2026-03-01T00:00:00Z');
  const entries = Array.from({ length: 100 }, (_, hour) => ({
    ...{ at: start + hour * 60 * minute, actor: 'ann', address: '10.0.0.1', action: 'visit' as const },
  }));
  await addEntries(ports.store, { id, viewId }, entries);
  const turns = reportTurns();
  const signal = new AbortController().signal;
  let windows = 0;
  const longReport = async () => {
    const range = { tid: 1, shareId: id, from: null, before: null };
    const turn = <T>(query: () => Promise<T>) => turns.queries.run({ tid: 1, groups: callerGroups('one') }, signal, query);
    for await (const _ of visitorDays(ports.store.reports, range, turn, 1)) windows += 1;
  };
  const longRun = longReport();
  await turns.queries.run({ tid: 2, groups: callerGroups('other') }, signal, () => call('overview/get'));
  const before = windows;
  await longRun;
  assert.ok(before < windows / 2, `${before} of ${windows} windows came first`);
});

test('share/activity lists the latest visitors first and adds up their actions over all windows', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await postern.call('share/add', newShare());
  const start = Date.parse('2026-03-01T10:00:00Z');
  await addEntries(postern.ports.store, { id, viewId }, [
    { at: start, actor: 'ann', address: '10.0.0.1', action: 'download' },
    { at: start + day, actor: 'bob', address: '10.0.0.2', action: 'visit' },
    { at: start + 2 * day, actor: 'ann', address: '10.0.0.1', action: 'upload' },
  ]);
  const { byDay, byVisitor } = await postern.call('share/activity', { id });
  assert.deepEqual(byDay, [
    { date: '2026-03-01', visits: 1, downloads: 1, uploads: 0 },
    { date: '2026-03-02', visits: 1, downloads: 0, uploads: 0 },
    { date: '2026-03-03', visits: 1, downloads: 0, uploads: 1 },
  ]);
  assert.deepEqual(
    byVisitor.map(({ visitor, visits, downloads, uploads, lastDateTime }: Json) => [visitor, visits, downloads, uploads, lastDateTime]),
    [
      ['ann', 2, 1, 1, '2026-03-03T10:00:00.000Z'],
      ['bob', 1, 0, 0, '2026-03-02T10:00:00.000Z'],
    ],
  );
});
