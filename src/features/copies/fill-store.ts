import { restoredVisitor } from '#features/alerts/enqueue-alert.ts';
import { deleteCodes } from '#features/secrets/delete-codes.ts';
import { unfinishedCopyMark } from '#features/secrets/unfinished-copy.ts';
import type { LastIds } from '#ports/last-ids.ts';
import type { Store, Tx } from '#ports/store.ts';
import { addRows, type CopiedRow, countRows, rowKeyText, rowsBetween, type TableName, tableNames } from './copied-tables.ts';

/** The rows to copy, in the order of `tableNames`. `pages` can be called several times. */
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

/**
 * Marks the database as an unfinished copy. A start that was refused may have left the fingerprint of its secret key in a
 * database without tenants: the mark replaces this fingerprint.
 * @throws Error if the database has tenants and is not an unfinished copy, or is in use
 */
async function beginCopy(store: Store): Promise<void> {
  const keys = await store.read.selectFrom('secret_key').selectAll().execute();
  const isResumed = keys.some(({ fingerprint }) => fingerprint === unfinishedCopyMark);
  if (!isResumed && (await countRows(store.read, 'tenant')) > 0) throw new Error('the database is not empty: copy into an empty database');
  await checkUnused(store);
  if (isResumed) return;
  await store.write(async (tx) => {
    await tx.deleteFrom('secret_key').execute();
    await tx.insertInto('secret_key').values({ fingerprint: unfinishedCopyMark }).execute();
  }, 'job');
}

/**
 * Returns the rows to insert. Login profiles come after their tenants, so a tenant is inserted without its default profile,
 * which does not exist yet.
 */
const withoutProfile = (table: TableName, rows: readonly CopiedRow[]) =>
  table === 'tenant' ? rows.map((row) => ({ ...row, default_profile_id: null })) : rows;

async function insertInBatches(tx: Tx, table: TableName, rows: readonly CopiedRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += insertBatch) await addRows(tx, table, rows.slice(at, at + insertBatch));
}

/** Sets the default profiles of the tenants. Call it after the profiles are copied. */
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

/** Compares the copy with its source row by row. @throws Error if they differ */
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
 * Holds the mails of a backup until an operator consents: they may have been sent after the backup. Deletes the sign-in codes, which
 * are valid for only ten minutes.
 */
async function holdMails(tx: Tx): Promise<void> {
  await deleteCodes(tx);
  await tx.updateTable('delivery').set({ state: 'held' }).where('state', 'in', ['waiting', 'sending']).execute();
  await tx.updateTable('mail_content').set({ held: 1 }).where('pending', '<>', '').execute();
  await tx.updateTable('alert').set({ visitor: restoredVisitor }).execute();
  await tx.deleteFrom('alert_digest').execute();
  const shares = await tx.selectFrom('alert').select(['tid', 'share_id']).distinct().execute();
  for (let at = 0; at < shares.length; at += insertBatch)
    await tx
      .insertInto('alert_digest')
      .values(shares.slice(at, at + insertBatch).map((share) => ({ ...share, visitor: restoredVisitor, due_at: 0, step: 0 })))
      .execute();
}

/** Ends the sessions and API tokens of a backup: the visitor or operator may have signed out after the backup, or lost access. */
async function endSessions(tx: Tx): Promise<void> {
  await tx.deleteFrom('visit_session').execute();
  await tx.deleteFrom('operator_session').execute();
  await tx.deleteFrom('api_token').execute();
}

/** What a copy is for. */
interface CopyPurpose {
  /** true: the rows come from a backup. All sessions and API tokens end, and the mails wait for the consent of an operator. */
  readonly isBackup: boolean;
  /** Called when everything is copied and compared, before the copy can be used. */
  readonly beforeUse?: () => void;
}

/**
 * Copies everything into an empty database and compares it row by row. An interrupted copy continues when it is run again.
 * @throws Error if the database is not empty, other processes use it, or the copy differs from its source; what `source` throws
 */
export async function fillStore(
  store: Store,
  source: RowSource,
  progress: CopyProgress,
  { isBackup, beforeUse }: CopyPurpose,
): Promise<void> {
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
  beforeUse?.();
  await store.write(async (tx) => {
    if (isBackup) {
      await holdMails(tx);
      await endSessions(tx);
    }
    await store.dialect.setLastIds(tx, lastIds);
    await tx.deleteFrom('secret_key').execute();
    await insertInBatches(tx, 'secret_key', keys);
  }, 'job');
}
