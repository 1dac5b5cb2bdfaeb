import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { after, before, type TestContext, test } from 'node:test';
import pg from 'pg';
import { openPostgresStore } from '#adapters/store/postgres/postgres-store.ts';
import { atEnd } from '../parts/at-end.ts';
import { type PostgresServer, startPostgres } from '../parts/postgres-server.ts';
import { until } from './until.ts';

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server[Symbol.asyncDispose]());

/** Opens a store whose connections for short queries are all busy until `release` is called. */
async function openBusyStore(t: TestContext) {
  const client = new AsyncLocalStorage<string>();
  const store = await openPostgresStore(server.url('postgres'), () => client.getStore());
  atEnd(t, () => store[Symbol.asyncDispose]());
  const locker = new pg.Client(server.url('postgres'));
  await locker.connect();
  atEnd(t, () => locker.end());
  await locker.query('BEGIN; LOCK TABLE tenant');
  const completed: string[] = [];
  const read = async (address: string) => {
    await client.run(address, () => store.read.selectFrom('tenant').select('id').execute());
    completed.push(address);
  };
  const queries = Array.from({ length: 500 }, () => read('192.0.2.1'));
  const waitingCount = "SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation = 'tenant'::regclass";
  await until(async () => (await locker.query<{ count: number }>(waitingCount)).rows[0]?.count === 10);
  return { store, completed, read, queries, release: () => locker.query('COMMIT') };
}

test('a query of one network waits for only a few of the hundreds of queries of another network', async (t) => {
  const { completed, read, queries, release } = await openBusyStore(t);
  const other = read('198.51.100.1');
  await release();
  await Promise.all([...queries, other]);
  const position = completed.indexOf('198.51.100.1');
  assert.ok(position < 50, `${position} queries completed first`);
});

test('the check of the database does not wait for hundreds of queries', async (t) => {
  const { store, completed, queries, release } = await openBusyStore(t);
  const check = store.check();
  await release();
  await check;
  assert.ok(completed.length < 50, `${completed.length} queries completed first`);
  await Promise.all(queries);
});

test('a query within inOwnTurns() waits for only a few of the hundreds of other queries of its network', async (t) => {
  const { store, completed, read, queries, release } = await openBusyStore(t);
  const own = store.inOwnTurns(() => read('192.0.2.1').then(() => completed.push('own')));
  await release();
  await Promise.all([...queries, own]);
  const position = completed.indexOf('own');
  assert.ok(position < 50, `${position} queries completed first`);
});
