import assert from 'node:assert/strict';
import { readFileSync, statfsSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { openSqliteStore } from '#adapters/store/sqlite/sqlite-store.ts';
import type { Store, Tx } from '#ports/store.ts';
import { atEnd } from '../parts/at-end.ts';
import { temporaryFolder } from '../start.ts';
import { smallDisk } from './small-disk.ts';

function openStore(t: TestContext, folder: string): Store {
  const store = openSqliteStore(folder, (cause) => assert.fail(`the disk was given up: ${cause}`));
  atEnd(t, () => store[Symbol.asyncDispose]());
  return store;
}
const note = (key: string) => (tx: Tx) => tx.insertInto('failure').values({ key, at: 0 }).execute();
const keysOf = async ({ read }: Store) => (await read.selectFrom('failure').select('key').orderBy('key').execute()).map(({ key }) => key);

test('a refused change leaves nothing of it, and those beside it stay', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const refusal = new Error('refused');
  const results = await Promise.allSettled(
    Array.from({ length: 100 }, (_, index) =>
      store.write(async (tx) => {
        await note(`${index}`)(tx);
        if (index % 10 === 0) throw refusal;
        return index;
      }),
    ),
  );
  for (const [index, result] of results.entries())
    assert.deepEqual(result, index % 10 === 0 ? { status: 'rejected', reason: refusal } : { status: 'fulfilled', value: index });
  assert.equal((await keysOf(store)).length, 90);
});

test('a dry run answers as the change would and leaves nothing, not even for those beside it', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const count = async (tx: Tx) => {
    await note('x')(tx);
    return (await tx.selectFrom('failure').selectAll().execute()).length;
  };
  const counts = await Promise.all([
    store.write(count),
    store.write(count, { dryRun: true }),
    store.write(count),
    store.write(count, { dryRun: true }),
  ]);
  assert.deepEqual(counts, [1, 2, 2, 3]);
  assert.equal((await keysOf(store)).length, 2);
});

test('a change that awaits something other than its transaction is refused and leaves nothing', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const late = store.write(async (tx) => {
    await note('late')(tx);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  });
  await assert.rejects(late, /awaited something other/);
  assert.deepEqual(await keysOf(store), []);
});

test('a change that awaits something else is refused alone: those behind it are kept', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const late = async (tx: Tx) => {
    await note('late')(tx);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  };
  const results = await Promise.allSettled([store.write(note('a')), store.write(late), store.write(note('b')), store.write(note('c'))]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  assert.deepEqual(await keysOf(store), ['a', 'b', 'c']);
});

test('a change that waits for another change is refused, and does not stop the store for ever', { timeout: 3000 }, async (t) => {
  const store = openSqliteStore(await temporaryFolder(t), () => {});
  await assert.rejects(store.write(() => store.write(note('inner'))));
  await store[Symbol.asyncDispose]();
});

test('a row that another row forbids is told from other errors', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const values = { title: 'A', default_profile_id: null, created_at: 0 };
  await store.write((tx) =>
    tx
      .insertInto('tenant')
      .values({ id: 7, ...values })
      .execute(),
  );
  const fails = (change: (tx: Tx) => Promise<unknown>) =>
    store.write(change).then(
      () => assert.fail('it was taken'),
      (cause: unknown) => cause,
    );
  const link = { view_key: 'abcd', tid: 7, share_id: null, profile_id: null };
  await store.write((tx) => tx.insertInto('link').values(link).execute());
  assert.ok(store.dialect.isUniqueViolation(await fails((tx) => tx.insertInto('link').values(link).execute())));
  assert.ok(
    store.dialect.isUniqueViolation(
      await fails((tx) =>
        tx
          .insertInto('tenant')
          .values({ id: 7, ...values })
          .execute(),
      ),
    ),
  );
  assert.ok(
    !store.dialect.isUniqueViolation(
      await fails((tx) =>
        tx
          .insertInto('link')
          .values({ ...link, view_key: 'e', tid: 8 })
          .execute(),
      ),
    ),
  );
  assert.ok(!store.dialect.isUniqueViolation(await fails(() => Promise.reject(new Error('UNIQUE constraint failed')))));
});

test('what fails only when it is committed fails alone', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const tenant = (title: string, profile: number | null) => (tx: Tx) =>
    tx.insertInto('tenant').values({ title, default_profile_id: profile, created_at: 0 }).execute();
  const results = await Promise.allSettled([store.write(tenant('a', null)), store.write(tenant('b', 999)), store.write(tenant('c', null))]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  const titles = await store.read.selectFrom('tenant').select('title').orderBy('title').execute();
  assert.deepEqual(
    titles.map(({ title }) => title),
    ['a', 'c'],
  );
});

test('a change sees those before it, in the order in which they were asked for', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  const seen = await Promise.all(
    Array.from({ length: 200 }, () =>
      store.write(async (tx) => {
        await note('x')(tx);
        return (await tx.selectFrom('failure').selectAll().execute()).length;
      }),
    ),
  );
  assert.deepEqual(
    seen,
    Array.from({ length: 200 }, (_, index) => index + 1),
  );
});

test('a parameter of a kind that no column has is refused, and the store goes on', async (t) => {
  const store = openStore(t, await temporaryFolder(t));
  await assert.rejects(
    store.write((tx) => tx.insertInto('failure').values({ key: 'x', at: 1.5 }).execute()),
    'STRICT',
  );
  await assert.rejects(
    store.write((tx) =>
      tx
        .insertInto('failure')
        .values({ key: Reflect.get({}, 'none'), at: 1 })
        .execute(),
    ),
  );
  await store.write(note('good'));
  assert.deepEqual(await keysOf(store), ['good']);
});

test('a full disk refuses changes, loses none that was answered, and takes new ones once there is room', async (t) => {
  const folder = smallDisk(t, 'size=3m');
  if (!folder) return;
  const store = openSqliteStore(folder, (cause) => assert.fail(`the disk was given up: ${cause}`));
  await store.write(note('before'));
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize - 65_536));
  const results = await Promise.allSettled(Array.from({ length: 40 }, (_, index) => store.write(note(`${index}`.padEnd(20_000, 'x')))));
  const kept = results.filter(({ status }) => status === 'fulfilled').length;
  assert.ok(kept < 40);
  assert.equal((await keysOf(store)).length, kept + 1);
  unlinkSync(join(folder, 'filler'));
  await store.write(note('after'));
  await store[Symbol.asyncDispose]();
  const again = openSqliteStore(folder, () => {});
  const found = await keysOf(again);
  await again[Symbol.asyncDispose]();
  assert.equal(found.length, kept + 2);
});

test('a database that a newer Postern made is not touched', async (t) => {
  const folder = await temporaryFolder(t);
  await openSqliteStore(folder, () => {})[Symbol.asyncDispose]();
  const database = new DatabaseSync(join(folder, 'postern.db'));
  database.exec("INSERT INTO migration (name) VALUES ('9999-future')");
  database.close();
  assert.throws(() => openSqliteStore(folder, () => {}), /newer Postern/);
});

/** Columns of each table by src/ports/tables.ts: name, type, whether null is taken. */
function declared(): Map<string, string[]> {
  const source = readFileSync(join(import.meta.dirname, '../../src/ports/tables.ts'), 'utf8');
  const bodies = new Map(
    [...source.matchAll(/interface (\w+)( extends Owned)? \{([^}]*)\}/g)].map(([, name, owned, body]) => [
      name ?? '',
      { owned: Boolean(owned), body: body ?? '' },
    ]),
  );
  const columns = (name: string): string[] => {
    const found = bodies.get(name);
    assert.ok(found, name);
    const own = [...found.body.matchAll(/^ {2}(?:readonly )?(\w+): (.*);$/gm)].map(
      ([, column, type = '']) => `${column} ${/string|'/.test(type) ? 'TEXT' : 'INTEGER'}${type.includes('null') ? '' : ' NOT NULL'}`,
    );
    return [...own, ...(found.owned ? columns('Owned') : [])];
  };
  const tables = [...(bodies.get('Database')?.body ?? '').matchAll(/(\w+): (\w+);/g)];
  return new Map(tables.map(([, table = '', type = '']) => [table, columns(type).sort()]));
}

test('the tables are those that the program knows, column by column', async (t) => {
  const folder = await temporaryFolder(t);
  await openSqliteStore(folder, () => {})[Symbol.asyncDispose]();
  const database = new DatabaseSync(join(folder, 'postern.db'));
  atEnd(t, () => database.close());
  const names = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'migration'")
    .all()
    .map(({ name }) => String(name));
  const made = new Map(
    names.map((table) => [
      table,
      database
        .prepare(`PRAGMA table_info(${table})`)
        .all()
        .map((column) => `${column['name']} ${column['type']}${column['notnull'] || column['pk'] ? ' NOT NULL' : ''}`)
        .sort(),
    ]),
  );
  assert.deepEqual([...made].sort(), [...declared()].sort());
});
