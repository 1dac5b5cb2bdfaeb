import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { unwrittenEvents } from '#features/audit/unwritten-events.ts';
import type { VisitEvent } from '#features/audit/visit-event.ts';
import { type Store, StoreUnavailable } from '#ports/store.ts';
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
  const events = unwrittenEvents(
    ports,
    50_000,
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

test('an event is counted once if the database fails after it has rejected another event of the batch', async (t) => {
  const { ports } = await startPostern(t);
  const failures = [new Error('rejected'), null, new StoreUnavailable('the database does not respond')];
  const write: Store['write'] = (work, turn) => {
    const failure = failures.shift();
    return failure ? Promise.reject(failure) : ports.store.write(work, turn);
  };
  const events = unwrittenEvents(
    { ...ports, store: { ...ports.store, write } },
    50_000,
    () => {},
    () => {},
  );
  for (const path of ['/a', '/b']) events.add(eventAt(path), ports.clock.now());
  await assert.rejects(events.write(), StoreUnavailable);
  await events.write();
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
  const events = unwrittenEvents(
    ports,
    50_000,
    () => {},
    (count) => lostCounts.push(count),
  );
  for (let index = 0; index < 5000; index += 1) events.add(eventAt(`/${index}/${'x'.repeat(4000)}`), ports.clock.now());
  await events.write();
  assert.equal(events.hasEvents, false);
  const { total } = await ports.store.read
    .selectFrom('audit')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where('tid', '=', 1)
    .where('action', '=', 'visit')
    .executeTakeFirstOrThrow();
  assert.ok(total > 3000 && total < 4100, `${total} of 5000`);
  assert.deepEqual(lostCounts, [5000 - total]);
  events.add(eventAt('/later'), ports.clock.now());
  assert.ok(events.hasEvents, 'there is buffer space again');
});
