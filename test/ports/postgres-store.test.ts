import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { openPostgresStore } from '#adapters/store/postgres/postgres-store.ts';
import { StoreAway } from '#ports/store.ts';
import { atEnd } from '../parts/at-end.ts';
import { type PostgresServer, startPostgres } from '../parts/postgres-server.ts';
import { tenantTables } from '../parts/statements.ts';
import { keysOf, note, storeContract } from './store.contract.ts';

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server[Symbol.asyncDispose]());

let made = 0;
async function newDatabase(): Promise<string> {
  made += 1;
  const client = new pg.Client(server.url('postgres'));
  await client.connect();
  await client.query(`CREATE DATABASE d${made}`);
  await client.end();
  return server.url(`d${made}`);
}

async function openStore(t: TestContext) {
  const store = await openPostgresStore(await newDatabase());
  atEnd(t, () => store[Symbol.asyncDispose]());
  return store;
}

storeContract('PostgreSQL', async () => {
  const url = await newDatabase();
  return () => openPostgresStore(url);
});

test('processes that start at once on an empty database make it once', async (t) => {
  const url = await newDatabase();
  const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgresStore(url)));
  for (const store of stores) atEnd(t, () => store[Symbol.asyncDispose]());
  for (const [index, store] of stores.entries()) await store.write(note(`${index}`));
  for (const store of stores) assert.deepEqual(await keysOf(store), ['0', '1', '2', '3']);
});

test('texts are sorted by their code points, whatever the language of the server', async (t) => {
  const store = await openStore(t);
  for (const key of ['b', 'a', 'B', 'é', '-a', '😀', '～']) await store.write(note(key));
  assert.deepEqual(await keysOf(store), ['-a', 'B', 'a', 'b', 'é', '～', '😀']);
});

test('while the server is away changes and questions are told so, and all is well once it is back', async (t) => {
  const store = await openStore(t);
  await store.write(note('before'));
  await server.stop();
  await assert.rejects(store.write(note('meanwhile')), StoreAway);
  await assert.rejects(store.check(), StoreAway);
  await assert.rejects(keysOf(store), StoreAway);

  await server.start();

  await store.write(note('after'));
  assert.deepEqual(await keysOf(store), ['after', 'before']);
});

test('of the changes under way when the server goes, those that were answered are kept, and the others are told', async (t) => {
  const store = await openStore(t);
  const answered: string[] = [];
  let [told, number] = [0, 0];
  let going = true;
  const client = async () => {
    while (going) {
      number += 1;
      const key = `${number}`;
      await store.write(note(key)).then(
        () => answered.push(key),
        (cause: unknown) => {
          assert.ok(cause instanceof StoreAway, String(cause));
          told += 1;
        },
      );
    }
  };
  const clients = Array.from({ length: 8 }, client);
  while (answered.length < 100) await new Promise(setImmediate);
  await server.stop();
  while (told === 0) await new Promise(setImmediate);
  await server.start();
  const soFar = answered.length;
  while (answered.length < soFar + 100) await new Promise(setImmediate);
  going = false;
  await Promise.all(clients);
  const kept = new Set(await keysOf(store));
  assert.deepEqual(
    answered.filter((key) => !kept.has(key)),
    [],
  );
});

test("every key of a tenant's table has the tenant's number, so that it can be distributed by it", async (t) => {
  const store = await openStore(t);
  const { rows: keys } = await sql<{ table: string; key: string; columns: string[]; refers: string | null }>`
    select c.conrelid::regclass::text as table, c.conname as key, nullif(c.confrelid, 0)::regclass::text as refers,
      array(select a.attname::text from pg_attribute a where a.attrelid = c.conrelid and a.attnum = any(c.conkey)) as columns
    from pg_constraint c where c.contype in ('p', 'u', 'f') and c.connamespace = current_schema()::regnamespace`.execute(store.read);
  const wrong = keys.filter(
    ({ table, columns, refers }) => tenantTables.includes(table) && refers !== 'tenant' && !columns.includes('tid'),
  );
  assert.deepEqual(wrong, []);
  const intoTenants = keys.filter(({ table, refers }) => refers !== null && tenantTables.includes(refers) && !tenantTables.includes(table));
  assert.deepEqual(intoTenants, [], 'what is found before its tenant is known refers to nothing that lies elsewhere');
  const tables = (await store.read.introspection.getTables()).map(({ name }) => name);
  const directories = ['api_key', 'api_token', 'failure', 'link', 'migration', 'process', 'secret_key', 'tenant'];
  assert.deepEqual(tables.sort(), [...tenantTables, ...directories].sort());
});
