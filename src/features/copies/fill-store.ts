import { unfinishedCopy } from '#features/secrets/unfinished-copy.ts';
import type { LastIds } from '#ports/snapshot.ts';
import type { Store, Tx } from '#ports/store.ts';
import { addRows, countOf, nameOf, type Row, rowsBetween, type TableName, tableNames } from './copied-tables.ts';

/** Where the rows come from: in the order of `tableNames`, as often as they are asked for. */
export interface RowSource {
  pages(): AsyncIterable<{ readonly table: TableName; readonly rows: readonly Row[] }>;
  lastIds(): Promise<LastIds>;
}

/** Told of every page: rows of that table so far. */
export type Progress = (step: 'copied' | 'compared', table: TableName, rows: number) => void;

const atOnce = 200; // rows in one statement: their values fit the engines' limits

/** What another process writes meanwhile would be part of the copy, and what it remembers would be wrong afterwards. */
async function checkUnused(store: Store): Promise<void> {
  if (await store.isUsedByOthers())
    throw new Error('other processes use the database: stop every Postern on it, empty it, and begin again');
}

/** @throws where the database holds anything but an unfinished copy, or is in use */
async function begin(store: Store): Promise<void> {
  const keys = await store.read.selectFrom('secret_key').selectAll().execute();
  const goesOn = keys.some(({ fingerprint }) => fingerprint === unfinishedCopy);
  if (!goesOn && (keys.length > 0 || (await countOf(store.read, 'tenant')) > 0))
    throw new Error('the database is not empty: a copy is made into an empty one only');
  await checkUnused(store);
  if (!goesOn) await store.write((tx) => tx.insertInto('secret_key').values({ fingerprint: unfinishedCopy }).execute(), 'job');
}

/** A tenant and its profile name each other: the tenant comes first, without. */
const withoutProfile = (table: TableName, rows: readonly Row[]) =>
  table === 'tenant' ? rows.map((row) => ({ ...row, default_profile_id: null })) : rows;

async function add(tx: Tx, table: TableName, rows: readonly Row[]): Promise<void> {
  for (let at = 0; at < rows.length; at += atOnce) await addRows(tx, table, rows.slice(at, at + atOnce));
}

/** Names each other's profile again, once both are there. */
async function linkTenants(store: Store, tenants: readonly Row[]): Promise<void> {
  await store.write(async (tx) => {
    for (const { id, default_profile_id } of tenants)
      await tx
        .updateTable('tenant')
        .set({ default_profile_id: default_profile_id === null ? null : Number(default_profile_id) })
        .where('id', '=', Number(id))
        .execute();
  }, 'job');
}

const textOf = (row: Row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));

async function compare(store: Store, source: RowSource, progress: Progress): Promise<void> {
  const counts = new Map<TableName, number>();
  for await (const { table, rows } of source.pages()) {
    if (table === 'secret_key') continue;
    const found = new Map((await rowsBetween(store.read, table, rows)).map((row) => [nameOf(table, row), row]));
    for (const row of rows)
      if (textOf(row) !== textOf(found.get(nameOf(table, row)) ?? {}))
        throw new Error(`the copy differs from its source in ${table}, row ${nameOf(table, row)}`);
    counts.set(table, (counts.get(table) ?? 0) + rows.length);
    progress('compared', table, counts.get(table) ?? 0);
  }
  for (const table of tableNames)
    if (table !== 'secret_key' && (await countOf(store.read, table)) !== (counts.get(table) ?? 0))
      throw new Error(`the copy holds rows of ${table} that its source does not have`);
}

/**
 * Copies everything into an empty database and compares it row by row; broken off, it goes on where it is run again.
 * @throws where the database is not empty, or the copy differs
 */
export async function fillStore(store: Store, source: RowSource, progress: Progress): Promise<void> {
  await begin(store);
  const tenants: Row[] = [];
  const keys: Row[] = [];
  const counts = new Map<TableName, number>();
  for await (const { table, rows } of source.pages()) {
    if (table === 'tenant') tenants.push(...rows);
    if (table === 'secret_key') keys.push(...rows);
    else await store.write((tx) => add(tx, table, withoutProfile(table, rows)), 'job');
    counts.set(table, (counts.get(table) ?? 0) + rows.length);
    progress('copied', table, counts.get(table) ?? 0);
  }
  await linkTenants(store, tenants);
  await checkUnused(store);
  await compare(store, source, progress);
  const lastIds = await source.lastIds();
  await store.write(async (tx) => {
    await store.dialect.setLastIds(tx, lastIds);
    await tx.deleteFrom('secret_key').execute();
    await add(tx, 'secret_key', keys);
  }, 'job');
}
