import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { openPostgresStore } from '#adapters/store/postgres/postgres-store.ts';
import type { Store, Tx } from '#ports/store.ts';
import { atEnd } from '../parts/at-end.ts';
import { type PostgresServer, startPostgres } from '../parts/postgres-server.ts';
import { insertKey, keysOf } from './store.contract.ts';
import { until } from './until.ts';

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server[Symbol.asyncDispose]());

async function openStore(t: TestContext): Promise<Store> {
  const store = await openPostgresStore(server.url('postgres'));
  atEnd(t, () => store[Symbol.asyncDispose]());
  return store;
}

async function waitsForLock({ read }: Store): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`.execute(read);
  return rows.length > 0;
}

/** Starts a change whose first run conflicts with another change, and whose retry runs until release() is called. */
function startConflictingChange(store: Store, tenant: number) {
  const [retryStarted, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let runs = 0;
  const done = store.write(
    async (tx: Tx) => {
      runs += 1;
      const count = (await tx.selectFrom('failure').selectAll().execute()).length;
      if (runs === 1)
        await store.write(async (otherTx) => {
          await otherTx.selectFrom('failure').selectAll().execute();
          await insertKey('beside')(otherTx);
        }, 'job');
      else {
        retryStarted.resolve();
        await release.promise;
      }
      await insertKey(`after ${count}`)(tx);
    },
    { tenant },
  );
  return { retryStarted: retryStarted.promise, release: release.resolve, done };
}

test('while a conflicting change of a tenant is retried, changes of visitors, jobs and other tenants continue in every process', async (t) => {
  const [one, other] = [await openStore(t), await openStore(t)];
  const change = startConflictingChange(one, 2);
  await change.retryStarted;
  for (const store of [one, other])
    for (const turn of ['job', { tenant: 1 }, { network: 'a' }, { visitor: 'a' }] as const) await store.write(async () => {}, turn);
  change.release();
  await change.done;
  assert.ok((await keysOf(one)).includes('after 1'), 'the retry sees the other change');
});

for (const [where, which] of [
  ['the same process', 0],
  ['another process', 1],
] as const)
  test(`while a conflicting change is retried, other changes of its tenant wait in ${where}`, async (t) => {
    const stores = [await openStore(t), await openStore(t)] as const;
    const change = startConflictingChange(stores[0], 2);
    await change.retryStarted;
    const order: string[] = [];
    const next = stores[which].write(async () => void order.push('next'), { tenant: 2 });
    if (which === 1) await until(() => waitsForLock(stores[0]));
    await stores[which].write(async () => void order.push('another tenant'), { tenant: 1 });
    assert.deepEqual(order, ['another tenant']);
    change.release();
    await Promise.all([change.done, next]);
  });

test('long changes of one tenant leave a connection for other tenants', async (t) => {
  const store = await openStore(t);
  const release = Promise.withResolvers<void>();
  t.after(() => release.resolve());
  const waiting = Array.from({ length: 8 }, () => store.write(() => release.promise, { tenant: 2 }));
  await store.write(async () => {}, { tenant: 1 });
  release.resolve();
  await Promise.all(waiting);
});

test('two processes retry conflicting changes of one tenant one after the other', async (t) => {
  const [one, other] = [await openStore(t), await openStore(t)];
  const first = startConflictingChange(one, 2);
  await first.retryStarted;
  const second = startConflictingChange(other, 2);
  let hasStarted = false;
  void second.retryStarted.then(() => {
    hasStarted = true;
  });
  await until(async () => hasStarted || (await waitsForLock(one)));
  assert.equal(hasStarted, false);
  first.release();
  await first.done;
  await second.retryStarted;
  second.release();
  await second.done;
});

/** Returns a server setting as it applies in a transaction. */
const settingOf = async (tx: Tx, name: string): Promise<string> => {
  const { rows } = await sql<{ value: string }>`SELECT current_setting(${name}) AS value`.execute(tx);
  return rows[0]?.value ?? '';
};

test('the last retry of a conflicting change has a statement timeout of one second, because it blocks all other changes', async (t) => {
  const store = await openStore(t);
  const limits: string[] = [];
  await store.write(
    async (tx) => {
      limits.push(await settingOf(tx, 'statement_timeout'));
      if (limits.length > 4) return;
      await tx.selectFrom('failure').selectAll().execute();
      await store.write(async (otherTx) => {
        await otherTx.selectFrom('failure').selectAll().execute();
        await insertKey(`beside ${limits.length}`)(otherTx);
      }, 'job');
      await insertKey('mine')(tx);
    },
    { tenant: 2 },
  );
  assert.deepEqual(limits, ['10s', '10s', '10s', '10s', '1s']);
});

test('a change without a tenant waits at most one second for a lock, and a change of a tenant has no lock timeout', async (t) => {
  const store = await openStore(t);
  assert.equal(await store.write((tx) => settingOf(tx, 'lock_timeout'), 'job'), '1s');
  assert.equal(await store.write((tx) => settingOf(tx, 'lock_timeout'), { tenant: 2 }), '0');
});

test('while the last retry of a change waits for a long change, changes of other tenants continue, and the retry runs afterwards', async (t) => {
  const store = await openStore(t);
  const [holds, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const long = store.write(
    async (tx) => {
      await insertKey('long')(tx);
      holds.resolve();
      await release.promise;
    },
    { tenant: 1 },
  );
  await holds.promise;
  const exclusive = store.write(
    async (tx) => {
      if ((await settingOf(tx, 'statement_timeout')) !== '1s') {
        await tx.selectFrom('failure').selectAll().execute();
        await store.write(async (otherTx) => {
          await otherTx.selectFrom('failure').selectAll().execute();
          await insertKey('beside the one')(otherTx);
        }, 'job');
      }
      await insertKey('alone')(tx);
    },
    { tenant: 2 },
  );
  exclusive.catch(() => {}); // prevents an unhandled rejection before it is awaited below
  await until(async () => {
    const { rows } = await sql`SELECT 1 FROM pg_locks WHERE mode = 'ExclusiveLock' AND locktype = 'relation' AND NOT granted`.execute(
      store.read,
    );
    return rows.length > 0;
  });
  for (let number = 0; number < 5; number += 1) await store.write(insertKey(`of others ${number}`), { tenant: 3 });
  release.resolve();
  await long;
  await exclusive;
  assert.ok((await keysOf(store)).includes('alone'));
});
