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
  const answered: string[] = [];
  const read = async (address: string) => {
    await client.run(address, () => store.read.selectFrom('tenant').select('id').execute());
    answered.push(address);
  };
  const many = Array.from({ length: 500 }, () => read('192.0.2.1'));
  const waiting = "SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation = 'tenant'::regclass";
  await until(async () => (await locker.query<{ count: number }>(waiting)).rows[0]?.count === 10);
  return { store, answered, read, many, release: () => locker.query('COMMIT') };
}

test('a query of one network runs before most of the hundreds that another network has sent', async (t) => {
  const { answered, read, many, release } = await openBusyStore(t);
  const other = read('198.51.100.1');
  await release();
  await Promise.all([...many, other]);
  const position = answered.indexOf('198.51.100.1');
  assert.ok(position < 50, `answered as number ${position}`);
});

test('the check of the database does not wait for hundreds of queries', async (t) => {
  const { store, answered, many, release } = await openBusyStore(t);
  const checked = store.check();
  await release();
  await checked;
  assert.ok(answered.length < 50, `${answered.length} queries were answered first`);
  await Promise.all(many);
});

test('work that holds a place for which others wait does not wait for the other queries of its network', async (t) => {
  const { store, answered, read, many, release } = await openBusyStore(t);
  const own = store.inOwnTurns(() => read('192.0.2.1').then(() => answered.push('own')));
  await release();
  await Promise.all([...many, own]);
  const position = answered.indexOf('own');
  assert.ok(position < 50, `answered as number ${position}`);
});
