import assert from 'node:assert/strict';
import { existsSync, statfsSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { linkWithoutRowid } from '#adapters/store/migrations/0037-link-without-rowid.ts';
import type { Migration } from '#adapters/store/migrations/migration.ts';
import { migrations } from '#adapters/store/migrations/migrations.ts';
import { migrateSqlite } from '#adapters/store/sqlite/migrate.ts';
import { openSqliteStore } from '#adapters/store/sqlite/sqlite-store.ts';
import { appendAuditEntry, type NewAuditEntry } from '#features/audit/audit-entry.ts';
import { listedUserId } from '#features/records/listed-users.ts';
import { type Store, StoreUnavailable, type Tx } from '#ports/store.ts';
import { atEnd } from '../parts/at-end.ts';
import { temporaryFolder } from '../start.ts';
import { jobContract } from './jobs.contract.ts';
import { mountSmallDisk } from './small-disk.ts';
import { type CreateDatabase, insertKey, keysOf, storeContract } from './store.contract.ts';
import { until } from './until.ts';

function openStore(t: TestContext, folder: string): Store {
  const store = openSqliteStore(folder, (cause) => assert.fail(`the disk failed: ${cause}`));
  atEnd(t, () => store[Symbol.asyncDispose]());
  return store;
}
const createDatabase: CreateDatabase = async (t) => {
  const folder = await temporaryFolder(t);
  return async () => openSqliteStore(folder, (cause) => assert.fail(`the disk failed: ${cause}`));
};
storeContract('SQLite', createDatabase);
jobContract('SQLite', createDatabase);

/** A change that blocks the event loop for 30 ms. */
const longChange = (number: number) => async (tx: Tx) => {
  await insertKey(`${number}`)(tx);
  const end = performance.now() + 30;
  while (performance.now() < end);
};

test('between long changes of one tenant the event loop runs other work', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  let doneCount = 0;
  const long = Array.from({ length: 12 }, async (_, number) => {
    await store.write(longChange(number), { tenant: 1 }, { dryRun: number % 2 === 0 });
    doneCount += 1;
  });
  await until(() => doneCount > 0);
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  assert.ok(doneCount < 6, `${doneCount} long changes in twenty turns of the event loop`);
  await Promise.all(long);
  assert.deepEqual((await keysOf(store)).sort(), ['1', '11', '3', '5', '7', '9']);
});

test('between long changes of many tenants the event loop runs other work', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  let doneCount = 0;
  const write = async (number: number) => {
    await store.write(longChange(number), { tenant: number % 12 });
    doneCount += 1;
  };
  await Promise.all(Array.from({ length: 12 }, (_, number) => write(number))); // each tenant has had a long change
  const before = doneCount;
  const long = Array.from({ length: 12 }, (_, number) => write(12 + number));
  await until(() => doneCount > before);
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  assert.ok(doneCount - before < 6, `${doneCount - before} long changes in twenty turns of the event loop`);
  await Promise.all(long);
});

test('sync() does not wait for all waiting changes of a tenant', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  let doneCount = 0;
  const long = Array.from({ length: 12 }, async (_, number) => {
    await store.write(longChange(number), { tenant: 1 });
    doneCount += 1;
  });
  await store.sync();
  assert.ok(doneCount < 6, `${doneCount} long changes were made before`);
  await Promise.all(long);
});

test('when the store is closed, it waits some seconds for long changes, and each change is either on disk or refused', {
  timeout: 30_000,
}, async (t) => {
  const folder = await temporaryFolder(t);
  const store = openSqliteStore(folder, (cause) => assert.fail(`the disk failed: ${cause}`));
  const long = Array.from({ length: 100 }, (_, number) => store.write(longChange(number), { tenant: 1 }));
  const [outcomes] = await Promise.all([Promise.allSettled(long), store[Symbol.asyncDispose]()]);
  const storedKeys = outcomes.flatMap(({ status }, number) => (status === 'fulfilled' ? [`${number}`] : []));
  assert.ok(storedKeys.length > 0 && storedKeys.length < 100, `${storedKeys.length} changes are stored`);
  assert.ok(outcomes.every((one) => one.status === 'fulfilled' || one.reason instanceof StoreUnavailable));
  assert.deepEqual((await keysOf(openStore(t, folder))).sort(), storedKeys.sort());
});

test('when the store is closed, waiting changes are refused even if another program locks the database', { timeout: 30_000 }, async (t) => {
  const folder = await temporaryFolder(t);
  const store = openSqliteStore(folder, (cause) => assert.fail(`the disk failed: ${cause}`));
  await store.write(longChange(0), { tenant: 1 });
  const other = new DatabaseSync(join(folder, 'postern.db'));
  atEnd(t, () => other.close());
  other.exec('BEGIN IMMEDIATE');
  const waiting = Promise.allSettled([1, 2, 3].map((number) => store.write(longChange(number), { tenant: 1 })));
  await store[Symbol.asyncDispose]();
  other.exec('ROLLBACK');
  assert.deepEqual(
    (await waiting).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
});

test('the size of the write-ahead log stays limited while long searches run without a pause', { timeout: 60_000 }, async (t) => {
  const folder = await temporaryFolder(t);
  const store = openStore(t, folder);
  const length = () => statSync(join(folder, 'postern.db-wal')).size;
  await store.write(insertKey('searched'), 'job');
  const longSearch = sql`with recursive n(i) as (select id from failure where id = 1 union all select i + 1 from n where i < 400000) select count(*) from n`;
  let hasEnded = false;
  async function keepSearching(db: Tx): Promise<void> {
    while (!hasEnded) await longSearch.execute(db);
  }
  const searches = [store.search, store.search, store.search, store.reports].map(keepSearching);
  let longest = 0;
  for (let number = 0; length() >= longest || longest < 64 << 20; number += 1) {
    longest = Math.max(longest, length());
    await store.write(insertKey(`${number} ${'x'.repeat(500_000)}`), 'job');
  }
  hasEnded = true;
  await Promise.all(searches);
  assert.ok(length() < 64 << 20);
});

test('long records of a tenant are read one at a time, so that other tenants and searches get a thread', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const counts = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) select count(*) from n`;
  const finishedQueries: string[] = [];
  const runQuery = async (name: string, db: Tx, query = counts) => {
    await query.execute(db);
    finishedQueries.push(name);
  };
  const long = Array.from({ length: 30 }, () => runQuery('first tenant', store.longRecordReader(1)));
  const others = [runQuery('second tenant', store.longRecordReader(2)), runQuery('search', store.search, sql`select 1`)];
  await Promise.all(others);
  assert.ok(finishedQueries.filter((name) => name === 'first tenant').length <= 3, finishedQueries.join());
  await Promise.all(long);
});

test('a change that awaits anything other than its transaction fails and is rolled back', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const { promise: refusal, resolve: noteRefusal } = Promise.withResolvers<unknown>();
  const late = store.write(async (tx) => {
    await insertKey('late')(tx);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    await insertKey('later')(tx).catch(noteRefusal);
  }, 'job');
  await assert.rejects(late, /awaited something other/);
  assert.match(String(await refusal), /a query after it had ended/);
  assert.deepEqual(await keysOf(store), []);
});

test('a change that awaits something other than its transaction fails alone, and other changes are kept', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const late = async (tx: Tx) => {
    await insertKey('late')(tx);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  };
  const results = await Promise.allSettled([
    store.write(insertKey('a'), 'job'),
    store.write(late, 'job'),
    store.write(insertKey('b'), 'job'),
    store.write(insertKey('c'), 'job'),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  assert.deepEqual(await keysOf(store), ['a', 'b', 'c']);
});

test('a change that waits for another change fails and does not block the store', { timeout: 3000 }, async (t) => {
  const store = openSqliteStore(await temporaryFolder(t), () => {});
  await assert.rejects(store.write(() => store.write(insertKey('inner'), 'job'), 'job'));
  await store[Symbol.asyncDispose]();
});

test('a long write-ahead log is copied into the database and then reused from its beginning', { timeout: 60_000 }, async (t) => {
  const folder = await temporaryFolder(t);
  const store = openStore(t, folder);
  const bytes = (name: string) => statSync(join(folder, name)).size;
  const large = 'k'.repeat(1 << 20);
  for (let number = 0; number < 8; number += 1) await store.write(insertKey(`${number} ${large}`), 'job');
  await until(() => bytes('postern.db') > 8 * large.length);
  await until(async () => {
    const before = bytes('postern.db-wal');
    await store.write(insertKey('short'), 'job');
    return bytes('postern.db-wal') === before;
  });
});

test('a change sees all changes that were requested before it', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const keyCounts = await Promise.all(
    Array.from({ length: 200 }, () =>
      store.write(async (tx) => {
        await insertKey('x')(tx);
        return (await tx.selectFrom('failure').selectAll().execute()).length;
      }, 'job'),
    ),
  );
  assert.deepEqual(
    keyCounts,
    Array.from({ length: 200 }, (_, index) => index + 1),
  );
});

test('on a full disk, changes fail, acknowledged changes are kept, and new changes succeed once space is free', async (t) => {
  const folder = mountSmallDisk(t, 'size=3m');
  if (!folder) return;
  const store = openSqliteStore(folder, (cause) => assert.fail(`the disk failed: ${cause}`));
  await store.write(insertKey('before'), 'job');
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize - 65_536));
  const results = await Promise.allSettled(
    Array.from({ length: 40 }, (_, index) => store.write(insertKey(`${index}`.padEnd(20_000, 'x')), 'job')),
  );
  const storedCount = results.filter(({ status }) => status === 'fulfilled').length;
  assert.ok(storedCount < 40);
  assert.equal((await keysOf(store)).length, storedCount + 1);
  unlinkSync(join(folder, 'filler'));
  await store.write(insertKey('after'), 'job');
  await store[Symbol.asyncDispose]();
  const reopenedStore = openSqliteStore(folder, () => {});
  const keys = await keysOf(reopenedStore);
  await reopenedStore[Symbol.asyncDispose]();
  assert.equal(keys.length, storedCount + 2);
});

test('if the disk is too full to copy the write-ahead log, the reserve file is deleted, and then the log is copied', {
  timeout: 30_000,
}, async (t) => {
  const folder = mountSmallDisk(t, 'size=40m');
  if (!folder) return;
  const store = openStore(t, folder); // fails the test if the store reports that the disk failed
  const reserve = () => statSync(join(folder, 'reserve'), { throwIfNoEntry: false })?.size ?? 0;
  const databaseSize = () => statSync(join(folder, 'postern.db')).size;
  await until(() => reserve() === 8 << 20 && databaseSize() > 4096); // the new tables have been copied from the log into the database file, and the log starts again
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize - (6 << 20))); // space for the log or for its copy, not for both
  for (let number = 0; number < 16; number += 1) await store.write(insertKey(`${number}`.padEnd(300_000, 'x')), 'job');
  await until(() => store.isFull() && reserve() === 0);
  await until(() => databaseSize() > 4 << 20);
  assert.equal((await keysOf(store)).length, 16);
  unlinkSync(join(folder, 'filler'));
  await until(() => !store.isFull());
});

test('a database that a backup is reading can be opened, and contains the changes made during the backup', async (t) => {
  const folder = await temporaryFolder(t);
  const before = openSqliteStore(folder, () => assert.fail('the disk failed'));
  await before.write(insertKey('before'), 'job');
  const backup = new DatabaseSync(join(folder, 'postern.db'), { readOnly: true });
  atEnd(t, () => backup.close());
  backup.exec('BEGIN; SELECT * FROM failure');
  await before.write(insertKey('meanwhile'), 'job');
  await before[Symbol.asyncDispose]();
  const store = openStore(t, folder);
  await store.write(insertKey('now'), 'job');
  assert.deepEqual(await keysOf(store), ['before', 'meanwhile', 'now']);
});

test('a change fails while another program locks the database, and the next one succeeds', async (t) => {
  const folder = await temporaryFolder(t);
  const store = openStore(t, folder);
  const other = new DatabaseSync(join(folder, 'postern.db'));
  atEnd(t, () => other.close());
  other.exec('BEGIN IMMEDIATE');
  await assert.rejects(store.write(insertKey('refused'), 'job'));
  other.exec('ROLLBACK');
  await store.write(insertKey('made'), 'job');
  assert.deepEqual(await keysOf(store), ['made']);
});

test('a disk that fails when a query reads from it counts as the loss of the database', async (t) => {
  const lost = Promise.withResolvers<unknown>();
  const store = openSqliteStore(await temporaryFolder(t), lost.resolve);
  atEnd(t, () => store[Symbol.asyncDispose]());
  assert.deepEqual(await keysOf(store), []);
  // A fake failure with the code SQLITE_IOERR_READ, because no disk fails on request.
  const failure = Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 266 });
  const allMock = t.mock.method(StatementSync.prototype, 'all', () => {
    throw failure;
  });
  await assert.rejects(keysOf(store));
  allMock.mock.restore();
  assert.equal(await lost.promise, failure);
});

test('before a migration, a database with records is copied, and the copy has the old columns and cannot be read by other users', async (t) => {
  const file = join(await temporaryFolder(t), 'postern.db');
  const database = new DatabaseSync(file);
  atEnd(t, () => database.close());
  const first = { name: '0001', statements: () => ['CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT)'] };
  const second = { name: '0002', statements: () => ['ALTER TABLE thing DROP COLUMN name'] };
  const copyTo = (step: string) => `${file}.before-${step}`;
  migrateSqlite(database, [first], copyTo, () => assert.fail('an empty database must not be copied'));
  assert.ok(!existsSync(copyTo('0001')), 'an empty database is not copied');
  database.exec("INSERT INTO thing (name) VALUES ('kept')");

  migrateSqlite(database, [first, second], copyTo, (steps) => assert.deepEqual(steps, ['0002']));

  assert.equal(statSync(copyTo('0002')).mode & 0o777, 0o600);
  const copy = new DatabaseSync(copyTo('0002'), { readOnly: true });
  atEnd(t, () => copy.close());
  assert.deepEqual({ ...copy.prepare('SELECT * FROM thing').get() }, { id: 1, name: 'kept' });
  assert.deepEqual({ ...database.prepare('SELECT * FROM thing').get() }, { id: 1 });
});

test('if a migration fails and SQLite rolls back by itself, the error names the cause, and the next start runs the migration again', async (t) => {
  const database = new DatabaseSync(join(await temporaryFolder(t), 'postern.db'));
  atEnd(t, () => database.close());
  const migrate = (insert: string) => {
    const statements = () => ['CREATE TABLE thing (id INTEGER PRIMARY KEY)', 'INSERT INTO thing VALUES (1)', insert];
    const neverCopied = () => assert.fail('an empty database must not be copied');
    migrateSqlite(database, [{ name: '0001', statements }], neverCopied, neverCopied);
  };
  // As on a full disk, SQLite ends the transaction itself: a second ROLLBACK would fail with "no transaction is active".
  assert.throws(() => migrate('INSERT OR ROLLBACK INTO thing VALUES (1)'), /UNIQUE constraint failed: thing.id/);
  migrate('INSERT INTO thing VALUES (2)');
});

/** Returns a function that migrates a database. @param folder for copies of it */
const migrationsOf = (database: DatabaseSync, folder: string) => (steps: readonly Migration[]) =>
  migrateSqlite(
    database,
    steps,
    (step) => join(folder, step),
    () => {},
  );

test('a migration deletes the counts of deleted login profiles, and adds their `changes` to a common row', async (t) => {
  const folder = await temporaryFolder(t);
  const database = new DatabaseSync(join(folder, 'postern.db'));
  atEnd(t, () => database.close());
  const upTo = migrationsOf(database, folder);
  upTo(migrations.slice(0, 10));
  for (const profile of [7, 8])
    database.exec(`INSERT INTO share_count (tid, profile_id, slot, shares, changes) VALUES (1, ${profile}, 0, 0, 3)`);
  upTo(migrations);
  const counts = database.prepare('SELECT profile_id, shares, changes FROM share_count').all();
  assert.deepEqual(
    counts.map((row) => ({ ...row })),
    [{ profile_id: 0, shares: 0, changes: 6 }],
  );
});

test('the migration that stores each link once keeps all links, and a link still belongs to an existing tenant', async (t) => {
  const folder = await temporaryFolder(t);
  const database = new DatabaseSync(join(folder, 'postern.db'));
  atEnd(t, () => database.close());
  const migrate = migrationsOf(database, folder);
  migrate(migrations.slice(0, migrations.indexOf(linkWithoutRowid)));
  database.exec("INSERT INTO tenant (id, title, created_at) VALUES (1, 'A', 0)");
  database.exec("INSERT INTO link VALUES ('second', 1, NULL, 4), ('first', 1, 5, NULL), ('deleted', 1, NULL, NULL)");
  const linksOf = () => database.prepare('SELECT * FROM link ORDER BY view_key').all();
  const linksBefore = linksOf();
  migrate(migrations);
  assert.deepEqual(linksOf(), linksBefore);
  assert.throws(() => database.exec("INSERT INTO link VALUES ('third', 2, NULL, NULL)"), /FOREIGN KEY/);
  assert.throws(() => database.exec("INSERT INTO link VALUES ('third', 'text', NULL, NULL)"), /cannot store TEXT value/);
});

const auditEntry: NewAuditEntry = {
  ...{ tid: 1, at: 0, actor: '', actorKind: 'visitor', address: '::1', action: 'list', outcome: 'done', share: null },
  ...{ path: '', bytes: null, before: null, after: null, requestId: '', process: null },
};
const addTenant = (tx: Tx) => tx.insertInto('tenant').values({ title: 'A', created_at: 0 }).execute();

test('a cached lookup runs again after a change of a table that it reads, also by a cascade, and after no other change', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  let runs = 0;
  const lookUp = () =>
    store.cachedUntilChange('lookup', async () => {
      runs += 1;
      // The lookup reads in three ways: with a count that names no column, in a subquery, and in the thread for long records.
      await sql`select count(*) from login_profile where exists (select 1 from api_token)`.execute(store.read);
      await store.longRecordReader(1).selectFrom('access_user').select('id').execute();
    });
  async function runsAgain(change: (tx: Tx) => Promise<unknown>): Promise<boolean> {
    await lookUp();
    const before = runs;
    await store.write(change, 'job');
    await lookUp();
    return runs > before;
  }
  await store.write(addTenant, 'job');
  const key = { ...{ tid: 1, version: 1, name: 'A', role: 'admin', first_characters: '', created_owner: '', created_at: 0 }, hash: 'A' };
  await store.write((tx) => tx.insertInto('api_key').values(key).execute(), 'job');
  assert.equal(await runsAgain(addTenant), false, 'a tenant');
  assert.equal(await runsAgain((tx) => appendAuditEntry(tx, auditEntry)), false, 'an audit entry');
  assert.equal(await runsAgain((tx) => tx.deleteFrom('visit_session').execute()), false, 'sessions');
  assert.equal(await runsAgain((tx) => tx.deleteFrom('login_profile').execute()), true, 'a table of which no column is named');
  assert.equal(
    await runsAgain((tx) => tx.insertInto('api_token').values({ hash: 'A', key_id: 1, expires_at: 0 }).execute()),
    true,
    'a table in a subquery',
  );
  assert.equal(await runsAgain((tx) => tx.deleteFrom('api_key').execute()), true, 'a cascade');
  assert.equal(await runsAgain((tx) => tx.deleteFrom('access_user').execute()), true, 'a table that the thread for long records reads');
  assert.equal(
    await runsAgain((tx) => appendAuditEntry(tx, auditEntry).then(() => tx.deleteFrom('access_user').execute())),
    true,
    'an audit entry and a table',
  );
});

test('cached API keys are correct within and after each change, even if it is refused or a dry run', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const [tenant] = await store.write(
    (tx) => tx.insertInto('tenant').values({ title: 'A', created_at: 0 }).returning('id').execute(),
    'job',
  );
  const keyFields = { tid: tenant?.id ?? 0, version: 1, role: 'admin', first_characters: '', created_owner: '', created_at: 0 };
  const insertNamedKey = (name: string) => (tx: Tx) =>
    tx
      .insertInto('api_key')
      .values({ ...keyFields, name, hash: name })
      .returning('id')
      .executeTakeFirstOrThrow();
  const rename = (tx: Tx, name: string) => tx.updateTable('api_key').set({ name }).execute();
  const names = async (db: Tx) => (await db.selectFrom('api_key').select('name').execute()).map(({ name }) => name);
  const tokens = async (db: Tx) => (await db.selectFrom('api_token').select('hash').execute()).map(({ hash }) => hash);
  const { id } = await store.write(insertNamedKey('first'), 'job');
  await store.write((tx) => tx.insertInto('api_token').values({ hash: 'token', key_id: id, expires_at: 0 }).execute(), 'job');
  assert.deepEqual([await names(store.read), await tokens(store.read)], [['first'], ['token']]);

  const recordedNames: string[][] = [];
  const recordNames = async (tx: Tx) => void recordedNames.push(await names(tx));
  const changes = [
    store.write(
      async (tx) =>
        recordNames(tx)
          .then(() => rename(tx, 'second'))
          .then(() => recordNames(tx)),
      'job',
    ),
    store.write(
      async (tx) =>
        rename(tx, 'refused')
          .then(() => recordNames(tx))
          .then(() => Promise.reject(new Error('refused'))),
      'job',
    ),
    store.write(async (tx) => rename(tx, 'dry').then(() => recordNames(tx)), 'job', { dryRun: true }),
    store.write(recordNames, 'job'),
  ];
  await Promise.allSettled(changes);
  assert.deepEqual(recordedNames.flat(), ['first', 'second', 'refused', 'dry', 'second']);
  assert.deepEqual(await names(store.read), ['second']);

  await store.write((tx) => sql`create table chain (id integer references tenant(id) deferrable initially deferred)`.execute(tx), 'job');
  for (const [how, end] of Object.entries({
    'at the commit': (tx: Tx) => sql`insert into chain values (999)`.execute(tx),
    'by the database itself': (tx: Tx) => sql`insert or rollback into tenant (id, title, created_at) values (1, '', 0)`.execute(tx),
  })) {
    const failingChange = (tx: Tx) =>
      rename(tx, how)
        .then(() => names(tx))
        .then(() => end(tx));
    const [failingResult, otherResult] = await Promise.allSettled([store.write(failingChange, 'job'), store.write(names, 'job')]);
    assert.equal(failingResult.status, 'rejected', how);
    const namesAfter = [otherResult.status === 'fulfilled' && otherResult.value, await store.write(names, 'job'), await names(store.read)];
    assert.deepEqual(namesAfter, [['second'], ['second'], ['second']], how);
  }

  await store.write(
    (tx) =>
      tokens(tx)
        .then(() => tx.deleteFrom('api_key').execute())
        .then(() => tokens(tx)),
    'job',
  );
  assert.deepEqual([await names(store.read), await tokens(store.read)], [[], []], 'the tokens of a deleted key are also deleted');
});

test('SQLite looks up each listed user name by an index', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const lookup = store.read.selectFrom('share_user').select(listedUserId('share_user', 1).as('user')).compile();
  const { rows } = await sql<{ detail: string }>`EXPLAIN QUERY PLAN ${sql.raw(lookup.sql.replace('?', '1'))}`.execute(store.read);
  assert.match(rows.map(({ detail }) => detail).join('\n'), /SEARCH named .*username_key=\?/);
});

test('SQLite uses an index of share and user to find out whether a share lists a user', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const { rows } = await sql<{
    detail: string;
  }>`EXPLAIN QUERY PLAN SELECT name FROM share_user WHERE tid = 1 AND share_id = 2 AND user_id = 3`.execute(store.read);
  assert.match(rows.map(({ detail }) => detail).join('\n'), /tid=\? AND user_id=\? AND share_id=\?/);
});
