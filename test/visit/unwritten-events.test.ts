import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { UnwrittenEvents } from '#features/audit/unwritten-events.ts';
import type { VisitEvent } from '#features/audit/visit-event.ts';
import { type Store, StoreUnavailable } from '#ports/store.ts';
import { addTenant } from '../api/keys.ts';
import { startPostern } from '../start.ts';

const eventAt = (path: string, request: object = {}): VisitEvent => ({
  link: null,
  tid: 1,
  visitor: null,
  visitorRequest: { address: '198.51.100.1', requestId: 'r', ...request },
  action: 'visit',
  outcome: 'done',
  path,
});

test('audit entries that wait for the database do not keep the request headers in memory', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const { ports } = await startPostern(t);
  const events = new UnwrittenEvents(
    ports,
    () => {},
    () => {},
  );
  const headers = new WeakRef({ cookie: 'x' });
  events.add(eventAt('/', { headers: headers.deref() }), 0);
  await new Promise(setImmediate); // a dereferenced WeakRef keeps its target until the current job ends
  collect();
  assert.equal(headers.deref(), undefined);
  assert.ok(events.hasEvents);
});

test('each event is counted once if the database rejects a batch, and becomes unavailable while the events are written one by one', async (t) => {
  const { ports } = await startPostern(t);
  const failures = [new Error('rejected'), null, new StoreUnavailable('the database does not respond')];
  const write: Store['write'] = (work, turn) => {
    const failure = failures.shift();
    return failure ? Promise.reject(failure) : ports.store.write(work, turn);
  };
  const events = new UnwrittenEvents(
    { ...ports, store: { ...ports.store, write } },
    () => {},
    () => {},
  );
  for (const path of ['/a', '/b']) events.add(eventAt(path), ports.clock.now());
  await assert.rejects(events.writeSome(), StoreUnavailable);
  await events.writeSome();
  const rows = await ports.store.read.selectFrom('audit').select(['path', 'count']).where('action', '=', 'visit').orderBy('path').execute();
  assert.deepEqual(
    rows.map(({ path, count }) => [path, count]),
    [
      ['/a', 1],
      ['/b', 1],
    ],
  );
});

test('audit entries that wait for the database have a limited total size and are written later, and the number of lost ones is reported once', async (t) => {
  const { ports } = await startPostern(t);
  const lostCounts: number[] = [];
  const events = new UnwrittenEvents(
    ports,
    () => {},
    (count) => lostCounts.push(count),
  );
  for (let index = 0; index < 5000; index += 1) events.add(eventAt(`/${index}/${'x'.repeat(4000)}`), ports.clock.now());
  while (events.hasEvents) await events.writeSome();
  const { total } = await ports.store.read
    .selectFrom('audit')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where('tid', '=', 1)
    .where('action', '=', 'visit')
    .executeTakeFirstOrThrow();
  assert.ok(total > 700 && total < 1100, `${total} of 5000`);
  assert.deepEqual(lostCounts, [5000 - total]);
  events.add(eventAt('/later'), ports.clock.now());
  assert.ok(events.hasEvents, 'there is buffer space again');
});

test('neither another tenant nor another network can keep events of visitors out of the audit log, or delay them', async (t) => {
  const postern = await startPostern(t);
  const { ports } = postern;
  const { tid } = await addTenant(postern);
  const events = new UnwrittenEvents(
    ports,
    () => {},
    () => {},
  );
  const now = ports.clock.now();
  for (let index = 0; index < 5000; index += 1) events.add(eventAt(`/${index}/${'x'.repeat(4000)}`), now);
  events.add(eventAt('/same tenant', { address: '203.0.113.1' }), now);
  events.add({ ...eventAt('/other tenant'), tid }, now);
  assert.deepEqual([events.hasEventsOf(tid), events.hasEventsOf(tid + 1)], [true, false]);
  await events.writeSome();
  const rows = await ports.store.read.selectFrom('audit').select('path').where('path', 'like', '% tenant').orderBy('path').execute();
  assert.deepEqual(
    rows.map(({ path }) => path),
    ['/other tenant', '/same tenant'],
  );
  assert.equal(events.hasEventsOf(tid), false);
});
