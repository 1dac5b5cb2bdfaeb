import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, before, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { keyVault } from '#adapters/os/key-vault.ts';
import { systemClock, systemRandom } from '#adapters/os/system.ts';
import { openPool } from '#adapters/store/postgres/pool.ts';
import { openPostgresStore } from '#adapters/store/postgres/postgres-store.ts';
import { postgresSearch } from '#adapters/store/postgres/searches.ts';
import { SessionLocks } from '#adapters/store/postgres/session-locks.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import { prepareDatabase } from '#features/first-start/first-start.ts';
import { type Store, StoreUnavailable, type Tx } from '#ports/store.ts';
import { atEnd } from '../parts/at-end.ts';
import { type PostgresServer, startPostgres } from '../parts/postgres-server.ts';
import { tenantTables } from '../parts/statements.ts';
import { newShare, startPostern } from '../start.ts';
import { jobContract } from './jobs.contract.ts';
import { type CreateDatabase, insertKey, keysOf, storeContract } from './store.contract.ts';
import { until } from './until.ts';

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server[Symbol.asyncDispose]());

let databaseCount = 0;
async function newDatabase(options = ''): Promise<string> {
  databaseCount += 1;
  const client = new pg.Client(server.url('postgres'));
  await client.connect();
  await client.query(`CREATE DATABASE d${databaseCount} ${options}`);
  await client.end();
  return server.url(`d${databaseCount}`);
}

async function openStore(t: TestContext, options = '') {
  const store = await openPostgresStore(await newDatabase(options));
  atEnd(t, () => store[Symbol.asyncDispose]());
  return store;
}

const createDatabase: CreateDatabase = async () => {
  const url = await newDatabase();
  return () => openPostgresStore(url);
};
storeContract('PostgreSQL', createDatabase);
jobContract('PostgreSQL', createDatabase);

test('processes that start at the same time on an empty database create its tables once', async (t) => {
  const url = await newDatabase();
  const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgresStore(url)));
  for (const store of stores) atEnd(t, () => store[Symbol.asyncDispose]());
  for (const [index, store] of stores.entries()) await store.write(insertKey(`${index}`), 'job');
  for (const store of stores) assert.deepEqual(await keysOf(store), ['0', '1', '2', '3']);
});

test('if several processes start at the same time on an empty database, only one tenant is created, with id 1', async (t) => {
  const url = await newDatabase();
  const stores = await Promise.all(Array.from({ length: 6 }, () => openPostgresStore(url)));
  for (const store of stores) atEnd(t, () => store[Symbol.asyncDispose]());
  const ports = { clock: systemClock, random: systemRandom(), vault: keyVault('a secret key of the installation', systemRandom()) };
  const settings = { files: '/files', apiKey: 'pst_a-key-of-the-environment', firstKey: null };
  await Promise.all(stores.map((store) => prepareDatabase({ ...ports, store }, settings)));
  for (const { read } of stores) {
    assert.deepEqual(await read.selectFrom('tenant').select('id').execute(), [{ id: 1 }]);
    for (const table of ['location', 'api_key'] as const)
      assert.equal((await read.selectFrom(table).select('id').execute()).length, 1, table);
  }
});

/** Returns the connections that hold advisory locks, with the number of locks of each. */
async function lockingClients(url: string): Promise<{ pid: number; locks: number }[]> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(
    "SELECT pid, count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY pid ORDER BY locks DESC",
  );
  await client.end();
  return rows;
}

test('all locks of a process are held by one connection, and are released after the work', async (t) => {
  const url = await newDatabase();
  const store = await openPostgresStore(url);
  atEnd(t, () => store[Symbol.asyncDispose]());
  const gate = Promise.withResolvers<void>();
  const keys = Array.from({ length: 50 }, (_, number) => `file ${number}`);
  const holding = keys.map(() => Promise.withResolvers<void>());
  const runningWork = keys.map((key, number) =>
    store.withLocks([key, `${key} renamed`], async () => {
      holding[number]?.resolve();
      await gate.promise;
    }),
  );
  await Promise.all(holding.map(({ promise }) => promise));
  await until(async () => {
    const clients = await lockingClients(url);
    assert.equal(clients.length, 1);
    return clients[0]?.locks === 100;
  });
  gate.resolve();
  await Promise.all(runningWork);
  await until(async () => (await lockingClients(url)).length === 0);
});

test('work waits while another process holds one of the locks that it needs, and does not hold the others in the meantime', async (t) => {
  const url = await newDatabase();
  const stores = await Promise.all(Array.from({ length: 3 }, () => openPostgresStore(url)));
  for (const store of stores) atEnd(t, () => store[Symbol.asyncDispose]());
  const [first, second, third] = stores.map(({ withLocks }) => withLocks);
  assert.ok(first && second && third);
  const [gate, holding] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const order: string[] = [];
  const work = first(['a', 'b'], async () => {
    holding.resolve();
    await gate.promise;
    order.push('first');
  });
  await holding.promise;
  await first(['d'], async () => {});
  await third(['d'], async () => void order.push('a lock that was released'));
  const secondWork = second(['b', 'c'], async () => void order.push('second'));
  // The second process polls, and holds only the lock that reserves its turn.
  await until(async () => (await lockingClients(url)).map(({ locks }) => locks).join() === '2,1');
  await third(['c'], async () => void order.push('a lock that is not taken'));
  gate.resolve();
  await Promise.all([work, secondWork]);
  assert.deepEqual(order, ['a lock that was released', 'a lock that is not taken', 'first', 'second']);
});

test('the database server releases the locks of a process that sends it no statement for too long', async (t) => {
  const url = await newDatabase();
  const [hung, other] = [openPool(url, 1, null), await openPostgresStore(url)];
  atEnd(t, () => hung.close());
  atEnd(t, () => other[Symbol.asyncDispose]());
  const locks = new SessionLocks(hung, { maxIdle: 100, aliveInterval: 1e6, maxWait: 1000 });
  const [gate, holding] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const work = locks.run(['a file'], () => {
    holding.resolve();
    return gate.promise;
  });
  await holding.promise;
  await other.withLocks(['a file'], async () => {});
  gate.resolve();
  await work;
});

/** Starts a relay to the database. @returns its URL, and a function that sets whether it is silent: it accepts bytes, but forwards none */
async function startRelay(t: TestContext, url: string) {
  const target = new URL(url);
  const [serverHost, serverPort] = [target.hostname, Number(target.port)];
  let isSilent = false;
  const relay = createServer((client) => {
    const server = connect(serverPort, serverHost);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const)
      from
        .on('data', (bytes) => void (isSilent || to.write(bytes)))
        .on('close', () => to.destroy())
        .on('error', () => to.destroy());
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => void relay.close());
  target.hostname = '127.0.0.1';
  target.port = `${(relay.address() as AddressInfo).port}`;
  const silence = (silent: boolean) => {
    isSilent = silent;
  };
  return { url: target.href, silence };
}

test('if a connection gets no response, locks are taken with a new connection, and running work returns its result', async (t) => {
  const relay = await startRelay(t, await newDatabase());
  const connections = openPool(relay.url, 1, 200);
  atEnd(t, () => connections.close());
  const locks = new SessionLocks(connections, { maxIdle: 60_000, aliveInterval: 1e6, maxWait: 1000 });
  const [gate, holding] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const work = locks.run(['a'], async () => {
    holding.resolve();
    await gate.promise;
    return 'done';
  });
  await holding.promise;
  relay.silence(true);
  await assert.rejects(
    locks.run(['b'], async () => {}),
    StoreUnavailable,
  );
  relay.silence(false);
  assert.equal(await locks.run(['c'], async () => 'with a new connection'), 'with a new connection');
  gate.resolve();
  assert.equal(await work, 'done');
});

test('a process gets a lock soon, although another process takes the same lock again and again', async (t) => {
  const url = await newDatabase();
  const [busy, other] = await Promise.all([openPostgresStore(url), openPostgresStore(url)]);
  for (const store of [busy, other]) atEnd(t, () => store[Symbol.asyncDispose]());
  let [hasLock, runs] = [false, 0];
  const takeOften = async () => {
    while (!hasLock)
      await busy.withLocks(['a'], async () => {
        runs += 1;
        await lockingClients(url); // work that takes a few milliseconds
      });
  };
  const takingOften = [takeOften(), takeOften()];
  await until(() => runs > 3);
  const before = runs;
  await other.withLocks(['a'], async () => {
    hasLock = true;
  });
  await Promise.all(takingOften);
  assert.ok(runs - before < 60, `${runs - before}`);
});

test('work fails if another process holds its lock for too long', async (t) => {
  const url = await newDatabase();
  const [holder, waitingPool] = [await openPostgresStore(url), openPool(url, 1, null)];
  atEnd(t, () => holder[Symbol.asyncDispose]());
  atEnd(t, () => waitingPool.close());
  const locks = new SessionLocks(waitingPool, { maxIdle: 60_000, aliveInterval: 15_000, maxWait: 0 });
  await holder.withLocks(['a file'], async () => {
    await assert.rejects(
      locks.run(['a file'], async () => assert.fail('the work runs while another process holds the lock')),
      StoreUnavailable,
    );
  });
});

test('changes that exceed the lock timeout fail, and later changes succeed', async (t) => {
  const url = await newDatabase();
  const client = new pg.Client(url);
  await client.connect();
  t.after(() => client.end());
  await client.query("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET lock_timeout = 200', current_database()); END $$");
  const store = await openPostgresStore(url);
  atEnd(t, () => store[Symbol.asyncDispose]());
  await client.query('BEGIN; LOCK TABLE migration IN EXCLUSIVE MODE');
  const results = await Promise.allSettled(Array.from({ length: 12 }, (_, number) => store.write(insertKey(`refused ${number}`), 'job')));
  assert.ok(results.every((result) => result.status === 'rejected' && result.reason instanceof StoreUnavailable));
  await client.query('ROLLBACK');
  for (let number = 0; number < 12; number += 1) await store.write(insertKey(`${number}`), 'job');
  assert.equal((await keysOf(store)).length, 12);
});

test('texts are sorted by code point', async (t) => {
  const store = await openStore(t);
  for (const key of ['b', 'a', 'B', 'é', '-a', '😀', '～']) await store.write(insertKey(key), 'job');
  assert.deepEqual(await keysOf(store), ['-a', 'B', 'a', 'b', 'é', '～', '😀']);
});

for (const { letters, options, byIndex } of [
  { letters: 'all letters', options: '', byIndex: ['report', 'договор', '-10', 'eu.', '書類だ'] },
  { letters: 'only ASCII letters', options: "LC_CTYPE 'C' TEMPLATE template0", byIndex: ['report', '-10', 'eu.'] },
])
  test(`if the database recognizes ${letters}, a word is searched in the index only if the word has trigrams`, async (t) => {
    const { dialect, read } = await openStore(t, options);
    const words = ['report', 'договор', '-10', 'eu.', '書類だ', 'eu', 'ж', '%%%', '書類'];
    const isIndexed = (word: string) => !dialect.containsWord('share.search_text', word).compile(read).sql.includes(`|| ''`);
    assert.deepEqual(words.filter(isIndexed), byIndex);
    for (const word of byIndex) {
      const { rows } = await sql<{ parts: number }>`SELECT cardinality(show_trgm(${word})) AS parts`.execute(read);
      assert.ok(Number(rows[0]?.parts) > 0, word);
    }
  });

/** Returns how many rows of `access_user` and `share_user` the connection has read and not yet reported to the statistics. */
async function countReadRows(tx: Tx): Promise<number> {
  const { rows } = await sql<{ rows: string }>`SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0) AS rows
    FROM pg_stat_xact_user_tables WHERE relname IN ('access_user', 'share_user')`.execute(tx);
  return Number(rows[0]?.rows);
}

/** Opens a store. `maxRows` returns how many rows of these tables the change that read most has read, including constraint checks. */
async function openCountingStore(t: TestContext, url: string) {
  const store = await openPostgresStore(url);
  atEnd(t, () => store[Symbol.asyncDispose]());
  let maxRows = 0;
  const write: Store['write'] = (change, ...rest) =>
    store.write(
      async (tx) => {
        const before = await countReadRows(tx); // includes earlier changes on this connection that the server has not reported yet
        const value = await change(tx);
        maxRows = Math.max(maxRows, (await countReadRows(tx)) - before);
        return value;
      },
      ...rest,
    );
  return { store: { ...store, write }, maxRows: () => maxRows };
}

test('a change of a share that lists thousands of new users reads rows in proportion to the list, even before the database has statistics of the tables', async (t) => {
  const url = await newDatabase();
  const { store, maxRows } = await openCountingStore(t, url);
  const postern = await startPostern(t, { environment: { POSTERN_DATABASE_URL: url }, replacements: { ports: { store } } });
  const { id: authId } = await postern.call('loginprofile/add', { title: 'Suppliers', typeId: profileTypes.USERS });
  const names = Array.from({ length: 4000 }, (_, index) => `user-${index}`);
  const users = names.map((username) => ({ username, active: true }));
  for (let begin = 0; begin < names.length; begin += 1000)
    await postern.call('accessuser/addMany', { authId, users: users.slice(begin, begin + 1000) });
  const listFields = { authenticationId: authId, allowAllUsers: false, userNames: names.join(',') };

  const { id } = await postern.call('share/add', newShare(listFields));
  assert.equal((await postern.call('share/get', { id })).allowedLogins, names.length);
  for (const [typeId, configuration] of [
    [profileTypes.EMAIL_CODE, '{"allow":[]}'],
    [profileTypes.USERS, ''],
  ] as const) {
    await postern.call('loginprofile/update', { ...(await postern.call('loginprofile/get', { id: authId })), typeId, configuration });
    assert.equal((await postern.call('share/get', { id })).allowedLogins, names.length);
    await postern.call('share/update', { ...(await postern.call('share/get', { id })), title: `Type ${typeId}` });
  }
  assert.ok(maxRows() <= 10 * names.length, `${maxRows()} rows were read`);
});

test('reading many long records of one tenant leaves connections for searches and other tenants', async (t) => {
  const store = await openStore(t);
  const finishedReads: string[] = [];
  const slowReads = Array.from({ length: 20 }, () =>
    sql`SELECT pg_sleep(0.1)`.execute(store.longRecordReader(1)).then(() => finishedReads.push('long')),
  );
  await sql`SELECT 1`.execute(store.search);
  await sql`SELECT 1`.execute(store.longRecordReader(2));
  assert.ok(finishedReads.length < 5, `${finishedReads.length} came first`);
  await Promise.all(slowReads);
});

test('many sign-in attempts from one network leave connections for other networks and for jobs', async (t) => {
  const store = await openStore(t);
  const gate = Promise.withResolvers<void>();
  t.after(() => gate.resolve());
  const finishedNetworks: string[] = [];
  const attempt = (network: string) =>
    store
      .write(
        async () => {
          await gate.promise;
        },
        { network },
      )
      .then(() => finishedNetworks.push(network));
  const crowd = Array.from({ length: 40 }, () => attempt('crowd'));
  const other = attempt('other');
  for (const key of ['a visit', 'another', 'a third']) await store.write(insertKey(key), 'job');
  gate.resolve();
  await other;
  assert.ok(finishedNetworks.length < 10, `${finishedNetworks.length} attempts came first`);
  await Promise.all(crowd);
});

test('while the server is down, changes and queries fail with StoreUnavailable, and later ones succeed', async (t) => {
  const store = await openStore(t);
  await store.write(insertKey('before'), 'job');
  await server.stop();
  await assert.rejects(store.write(insertKey('meanwhile'), 'job'), StoreUnavailable);
  await assert.rejects(store.check(), StoreUnavailable);
  await assert.rejects(keysOf(store), StoreUnavailable);

  await server.start();

  await store.write(insertKey('after'), 'job');
  assert.deepEqual(await keysOf(store), ['after', 'before']);
});

test('when the server stops, acknowledged changes are not lost, and other changes fail with StoreUnavailable', async (t) => {
  const store = await openStore(t);
  const acknowledgedKeys: string[] = [];
  let [failures, number] = [0, 0];
  let isRunning = true;
  const client = async () => {
    while (isRunning) {
      number += 1;
      const key = `${number}`;
      await store.write(insertKey(key), 'job').then(
        () => acknowledgedKeys.push(key),
        (cause: unknown) => {
          assert.ok(cause instanceof StoreUnavailable, String(cause));
          failures += 1;
        },
      );
    }
  };
  const clients = Array.from({ length: 8 }, client);
  while (acknowledgedKeys.length < 100) await new Promise(setImmediate);
  await server.stop();
  while (failures === 0) await new Promise(setImmediate);
  await server.start();
  const soFar = acknowledgedKeys.length;
  while (acknowledgedKeys.length < soFar + 100) await new Promise(setImmediate);
  isRunning = false;
  await Promise.all(clients);
  const storedKeys = new Set(await keysOf(store));
  assert.deepEqual(
    acknowledgedKeys.filter((key) => !storedKeys.has(key)),
    [],
  );
});

test('every key of a tenant table contains the tenant id, so that the table can be distributed by tenant', async (t) => {
  const store = await openStore(t);
  const { rows: keys } = await sql<{ table: string; key: string; columns: string[]; refers: string | null }>`
    select c.conrelid::regclass::text as table, c.conname as key, nullif(c.confrelid, 0)::regclass::text as refers,
      array(select a.attname::text from pg_attribute a where a.attrelid = c.conrelid and a.attnum = any(c.conkey)) as columns
    from pg_constraint c where c.contype in ('p', 'u', 'f') and c.connamespace = current_schema()::regnamespace`.execute(store.read);
  const wrong = keys.filter(
    ({ table, columns, refers }) => tenantTables.includes(table) && refers !== 'tenant' && !columns.includes('tid'),
  );
  assert.deepEqual(wrong, []);
  const referencesToTenantTables = keys.filter(
    ({ table, refers }) => refers !== null && tenantTables.includes(refers) && !tenantTables.includes(table),
  );
  assert.deepEqual(referencesToTenantTables, [], 'no other table refers to a tenant table');
  const tables = (await store.read.introspection.getTables()).map(({ name }) => name);
  const otherTables = [
    ...['api_key', 'api_token', 'console_invitation', 'delivery', 'failure', 'held_name', 'job', 'link', 'mail_content', 'migration'],
    ...['operator', 'operator_session', 'process', 'recovery_code', 'second_factor', 'secret_key', 'tenant'],
  ];
  assert.deepEqual(tables.sort(), [...tenantTables, ...otherTables].sort());
});

test('if reading the rows in sort order takes too long, the page is found by collecting all matches', async (t) => {
  const connections = openPool(await newDatabase(), 2, 10_000);
  atEnd(t, () => connections.close());
  const { searchPage } = postgresSearch(connections, { statementTimeout: 10_000, walkTimeout: 20, maxUnlimitedMatches: 0 });
  const slowly = sql<{ id: number; value: string }>`(SELECT i AS id, 'v' || i AS value FROM generate_series(1, 3) i, pg_sleep(0.2))`;
  const matches = { rows: slowly.as('matches'), ids: slowly.as('matches') };
  const word = { word: 'v', locationIds: [], matches };
  const page = {
    matches,
    word,
    searchedRecords: null,
    hasOtherFilter: false,
    recordCount: 3,
    countVersion: null,
    order: 'desc',
    after: null,
  } as const;
  const { rows } = await searchPage({ ...page, startIndex: 0, pageSize: 2 });
  assert.deepEqual(
    rows.map(({ id }) => id),
    [3, 2],
  );
  // The cancelled statement leaves no timeout on its connection: a later slow statement succeeds.
  assert.equal((await searchPage({ ...page, startIndex: 2, pageSize: 2 })).rows.length, 1);
});

test('if a lock is lost, failing work rejects with its own error, and finished work returns its result', async (t) => {
  const url = await newDatabase();
  const store = await openPostgresStore(url);
  atEnd(t, () => store[Symbol.asyncDispose]());
  const admin = new pg.Client(url);
  await admin.connect();
  const endLocks = () =>
    admin.query(
      "SELECT pg_terminate_backend(pid) FROM (SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS holder",
    );
  const failingWork = store.withLocks(['a key'], async () => {
    assert.equal((await endLocks()).rowCount, 1);
    throw new Error('the disk failed');
  });
  await assert.rejects(failingWork, /the disk failed/);
  const finishedWork = store.withLocks(['a key'], async () => {
    await endLocks();
    return 'done';
  });
  assert.equal(await finishedWork, 'done');
  await admin.end();
});
