import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { storedUserFields } from '#core/records/access-user.ts';
import { storedProfileFields } from '#core/records/login-profile.ts';
import { storedShareFields } from '#core/records/share.ts';
import { columnOf } from '#core/records/stored-fields.ts';
import type { Store, Tx } from '#ports/store.ts';
import { atEnd } from '../parts/at-end.ts';

/** Creates an empty database for the test. Each call of the returned function opens the database again. */
export type CreateDatabase = (t: TestContext) => Promise<() => Promise<Store>>;

export const insertKey = (key: string) => (tx: Tx) => tx.insertInto('failure').values({ key, at: 0 }).execute();
export const keysOf = async ({ read }: Store) =>
  (await read.selectFrom('failure').select('key').orderBy('key').execute()).map(({ key }) => key);

/** Returns the columns for the stored fields of a record. @param name of the exported list of fields */
function storedColumns(name: string): string[] {
  const fields = Object.entries({ storedShareFields, storedUserFields, storedProfileFields }).find(([key]) => key === name)?.[1];
  assert.ok(fields, name);
  return [
    ...fields.flags.map((flag) => `${columnOf(flag)} integer NOT NULL`),
    ...fields.texts.map((text) => `${columnOf(text)} text NOT NULL`),
  ];
}

/** Returns the columns of each table as declared in src/ports: name, type, NOT NULL. */
function declaredColumns(): Map<string, string[]> {
  const folder = join(import.meta.dirname, '../../src/ports');
  const source = globSync(['tables.ts', '*-tables.ts'], { cwd: folder })
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  const interfaces = new Map(
    [...source.matchAll(/interface (\w+)(?: extends (.*?))? \{([^}]*)\}/g)].map(([, name = '', bases = '', body = '']) => [
      name,
      { bases: bases.split(', ').filter(Boolean), body },
    ]),
  );
  const columns = (name: string): string[] => {
    const fields = /^ColumnsOf<typeof (\w+)>$/.exec(name)?.[1];
    if (fields !== undefined) return storedColumns(fields);
    const declaration = interfaces.get(name);
    assert.ok(declaration, name);
    const own = [...declaration.body.matchAll(/^ {2}(?:readonly )?(\w+): (.*);$/gm)].map(
      ([, column, type = '']) =>
        `${column} ${/string|'|MailKind|MailLane/.test(type) ? 'text' : 'integer'}${type.includes('null') ? '' : ' NOT NULL'}`,
    );
    return [...own, ...declaration.bases.flatMap(columns)];
  };
  const tables = [...(interfaces.get('Database')?.body ?? '').matchAll(/(\w+): (\w+);/g)];
  return new Map(tables.map(([, table = '', type = '']) => [table, columns(type).sort()]));
}

/** Tests a store. Every database engine must pass. */
export function storeContract(engine: string, createDatabase: CreateDatabase): void {
  async function openStore(t: TestContext): Promise<Store> {
    const store = await (await createDatabase(t))();
    atEnd(t, () => store[Symbol.asyncDispose]());
    return store;
  }

  test(`a change after the store is closed is refused (${engine})`, async (t) => {
    const store = await (await createDatabase(t))();
    const before = store.write(insertKey('before'), 'job');
    await Promise.all([before, store[Symbol.asyncDispose]()]);
    await assert.rejects(store.write(insertKey('late'), 'job'));
  });

  test(`a failed change is rolled back, and other simultaneous changes are kept (${engine})`, async (t) => {
    const store = await openStore(t);
    const refusal = new Error('refused');
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) =>
        store.write(async (tx) => {
          await insertKey(`${index}`)(tx);
          if (index % 10 === 0) throw refusal;
          return index;
        }, 'job'),
      ),
    );
    for (const [index, result] of results.entries())
      assert.deepEqual(result, index % 10 === 0 ? { status: 'rejected', reason: refusal } : { status: 'fulfilled', value: index });
    assert.equal((await keysOf(store)).length, 90);
  });

  for (const [whom, crowd] of [
    ['one tenant', { tenant: 2 }],
    ['sign-in attempts from one network', { network: 'crowd' }],
    ['the visitors of one network', { visitor: 'crowd' }],
  ] as const)
    test(`changes of jobs, other visitors and other tenants wait for only a few changes of ${whom} (${engine})`, async (t) => {
      const store = await openStore(t);
      let costlyChanges = 0;
      const costly = async (tx: Tx) => {
        costlyChanges += 1;
        await insertKey('costly')(tx);
        const end = performance.now() + 5;
        while (performance.now() < end);
      };
      const costlyWrites = Array.from({ length: 60 }, () => store.write(costly, crowd));
      for (const turn of ['job', { tenant: 1 }, { visitor: 'others' }] as const) {
        const countBefore = costlyChanges;
        const waitedFor = await store.write(async (tx) => {
          await insertKey('cheap')(tx);
          return costlyChanges - countBefore;
        }, turn);
        assert.ok(waitedFor < 20, `${waitedFor} costly changes came before`);
      }
      await Promise.all(costlyWrites);
    });

  test(`a dry run returns the same result as the change and is rolled back (${engine})`, async (t) => {
    const store = await openStore(t);
    const insertAndCount = async (tx: Tx) => {
      await insertKey('x')(tx);
      return (await tx.selectFrom('failure').selectAll().execute()).length;
    };
    const counts: number[] = [];
    for (const dryRun of [false, true, false, true]) counts.push(await store.write(insertAndCount, 'job', { dryRun }));
    assert.deepEqual(counts, [1, 2, 2, 3]);
    assert.equal((await keysOf(store)).length, 2);
  });

  test(`a violation of a unique key is distinguished from other errors (${engine})`, async (t) => {
    const store = await openStore(t);
    const values = { title: 'A', default_profile_id: null, created_at: 0 };
    await store.write(
      (tx) =>
        tx
          .insertInto('tenant')
          .values({ id: 7, ...values })
          .execute(),
      'job',
    );
    const errorOf = (change: (tx: Tx) => Promise<unknown>) =>
      store.write(change, 'job').then(
        () => assert.fail('the change was accepted'),
        (cause: unknown) => cause,
      );
    const link = { view_key: 'abcd', tid: 7, share_id: null, profile_id: null };
    await store.write((tx) => tx.insertInto('link').values(link).execute(), 'job');
    assert.ok(store.dialect.isUniqueViolation(await errorOf((tx) => tx.insertInto('link').values(link).execute())));
    assert.ok(
      store.dialect.isUniqueViolation(
        await errorOf((tx) =>
          tx
            .insertInto('tenant')
            .values({ id: 7, ...values })
            .execute(),
        ),
      ),
    );
    assert.ok(
      !store.dialect.isUniqueViolation(
        await errorOf((tx) =>
          tx
            .insertInto('link')
            .values({ ...link, view_key: 'e', tid: 8 })
            .execute(),
        ),
      ),
    );
    assert.ok(!store.dialect.isUniqueViolation(await errorOf(() => Promise.reject(new Error('UNIQUE constraint failed')))));
  });

  test(`a change that fails at commit does not make other changes fail (${engine})`, async (t) => {
    const store = await openStore(t);
    await store.write(
      (tx) => sql`create table chain (id bigint primary key, other bigint references chain(id) deferrable initially deferred)`.execute(tx),
      'job',
    );
    const insertRow = (id: number, other: number | null) => (tx: Tx) =>
      sql`insert into chain (id, other) values (${id}, ${other})`.execute(tx);
    const results = await Promise.allSettled([
      store.write(insertRow(1, null), 'job'),
      store.write(insertRow(2, 999), 'job'),
      store.write(insertRow(3, null), 'job'),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    const { rows } = await sql`select id from chain order by id`.execute(store.read);
    assert.deepEqual(
      rows.map((row) => ({ ...Object(row) })),
      [{ id: 1 }, { id: 3 }],
    );
  });

  test(`a parameter of the wrong type is refused, and the store keeps working (${engine})`, async (t) => {
    const store = await openStore(t);
    await assert.rejects(
      store.write((tx) => tx.insertInto('failure').values({ key: 'x', at: 1.5 }).execute(), 'job'),
      'a number with a fraction in an integer column',
    );
    await assert.rejects(
      store.write(
        (tx) =>
          tx
            .insertInto('failure')
            .values({ key: Reflect.get({}, 'none'), at: 1 })
            .execute(),
        'job',
      ),
    );
    await store.write(insertKey('good'), 'job');
    assert.deepEqual(await keysOf(store), ['good']);
  });

  test(`each of a hundred changes that read before they write sees all earlier changes (${engine})`, async (t) => {
    const store = await openStore(t);
    const insertRowCount = async (tx: Tx) => {
      const rows = await tx.selectFrom('failure').selectAll().execute();
      await insertKey(`${rows.length}`)(tx);
    };
    await Promise.all(Array.from({ length: 100 }, () => store.write(insertRowCount, 'job')));
    assert.equal(new Set(await keysOf(store)).size, 100);
  });

  test(`a database of a newer Postern version is not opened (${engine})`, async (t) => {
    const open = await createDatabase(t);
    const store = await open();
    await store.write((tx) => sql`insert into migration (name) values ('9999-future')`.execute(tx), 'job');
    await store[Symbol.asyncDispose]();
    await assert.rejects(open, /newer version of Postern/);
  });

  test(`the tables and columns are those that the program declares (${engine})`, async (t) => {
    const store = await openStore(t);
    const tables = (await store.read.introspection.getTables()).filter(({ name }) => name !== 'migration');
    const actualColumns = tables.map(({ name, columns }): [string, string[]] => [
      name,
      columns
        .map(
          (column) =>
            `${column.name} ${/int/i.test(column.dataType) ? 'integer' : column.dataType.toLowerCase()}${column.isNullable && !column.isAutoIncrementing ? '' : ' NOT NULL'}`,
        )
        .sort(),
    ]);
    assert.deepEqual(actualColumns.sort(), [...declaredColumns()].sort());
  });
}
