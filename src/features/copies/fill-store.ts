import { unfinishedCopy } from '#features/secrets/unfinished-copy.ts';
import type { LastIds } from '#ports/last-ids.ts';
import type { Store, Tx } from '#ports/store.ts';
import { addRows, type CopiedRow, countRows, rowKeyText, rowsBetween, type TableName, tableNames } from './copied-tables.ts';

/** The rows to copy, in the order of `tableNames`. They can be read several times. */
export interface RowSource {
  pages(): AsyncIterable<{ readonly table: TableName; readonly rows: readonly CopiedRow[] }>;
  lastIds(): Promise<LastIds>;
}

/** Called after every page with the number of rows of the table so far. */
export type CopyProgress = (step: 'copied' | 'compared', table: TableName, rows: number) => void;

const insertBatch = 200; // rows in one statement: both databases limit its parameters

/** Checks that no other process uses the database: its writes would mix with the copy, and its cached rows would be wrong. */
async function checkUnused(store: Store): Promise<void> {
  if (await store.isUsedByOthers())
    throw new Error('other processes use the database: stop every Postern that uses it, empty the database, and start again');
}

/** Marks the database as an unfinished copy. @throws Error where it holds anything but an unfinished copy, or is in use */
async function beginCopy(store: Store): Promise<void> {
  const keys = await store.read.selectFrom('secret_key').selectAll().execute();
  const isResumed = keys.some(({ fingerprint }) => fingerprint === unfinishedCopy);
  if (!isResumed && (keys.length > 0 || (await countRows(store.read, 'tenant')) > 0))
    throw new Error('the database is not empty: copy into an empty database');
  await checkUnused(store);
  if (!isResumed) await store.write((tx) => tx.insertInto('secret_key').values({ fingerprint: unfinishedCopy }).execute(), 'job');
}

/** Returns the rows as they are inserted: a tenant and its default profile refer to each other, so tenants come first without it. */
const withoutProfile = (table: TableName, rows: readonly CopiedRow[]) =>
  table === 'tenant' ? rows.map((row) => ({ ...row, default_profile_id: null })) : rows;

async function insertInBatches(tx: Tx, table: TableName, rows: readonly CopiedRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += insertBatch) await addRows(tx, table, rows.slice(at, at + insertBatch));
}

/** Sets the default profiles of the tenants, once the profiles are copied. */
async function setDefaultProfiles(store: Store, tenants: readonly CopiedRow[]): Promise<void> {
  await store.write(async (tx) => {
    for (const { id, default_profile_id } of tenants)
      await tx
        .updateTable('tenant')
        .set({ default_profile_id: default_profile_id === null ? null : Number(default_profile_id) })
        .where('id', '=', Number(id))
        .execute();
  }, 'job');
}

const rowText = (row: CopiedRow) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Compares the copy with its source row by row. @throws Error where they differ */
async function compareRows(store: Store, source: RowSource, progress: CopyProgress): Promise<void> {
  const counts = new Map<TableName, number>();
  for await (const { table, rows } of source.pages()) {
    if (table === 'secret_key') continue;
    const copiedRows = new Map((await rowsBetween(store.read, table, rows)).map((row) => [rowKeyText(table, row), row]));
    for (const row of rows)
      if (rowText(row) !== rowText(copiedRows.get(rowKeyText(table, row)) ?? {}))
        throw new Error(`the copy differs from its source in ${table}, row ${rowKeyText(table, row)}`);
    counts.set(table, (counts.get(table) ?? 0) + rows.length);
    progress('compared', table, counts.get(table) ?? 0);
  }
  for (const table of tableNames)
    if (table !== 'secret_key' && (await countRows(store.read, table)) !== (counts.get(table) ?? 0))
      throw new Error(`the copy has rows in ${table} that its source does not have`);
}

/**
 * Copies everything into an empty database and compares it row by row. An interrupted copy continues when it is run again.
 * @throws Error where the database is not empty, or the copy differs
 */
export async function fillStore(store: Store, source: RowSource, progress: CopyProgress): Promise<void> {
  await beginCopy(store);
  const tenants: CopiedRow[] = [];
  const keys: CopiedRow[] = [];
  const counts = new Map<TableName, number>();
  for await (const { table, rows } of source.pages()) {
    if (table === 'tenant') tenants.push(...rows);
    if (table === 'secret_key') keys.push(...rows);
    else await store.write((tx) => insertInBatches(tx, table, withoutProfile(table, rows)), 'job');
    counts.set(table, (counts.get(table) ?? 0) + rows.length);
    progress('copied', table, counts.get(table) ?? 0);
  }
  await setDefaultProfiles(store, tenants);
  await checkUnused(store);
  await compareRows(store, source, progress);
  const lastIds = await source.lastIds();
  await store.write(async (tx) => {
    await store.dialect.setLastIds(tx, lastIds);
    await tx.deleteFrom('secret_key').execute();
    await insertInBatches(tx, 'secret_key', keys);
  }, 'job');
}
