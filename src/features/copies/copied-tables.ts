import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

export type CopiedRow = Readonly<Record<string, unknown>>;

/**
 * The tables that are copied. A copy contains no running processes, no names that they hold, and no invitation of the
 * first operator. `share_count` and `user_count` are not copied, because triggers fill them.
 */
type CopiedTable = Exclude<keyof Database, 'process' | 'held_name' | 'console_invitation' | 'share_count' | 'user_count'>;
type Keys = { readonly [T in CopiedTable]: readonly [keyof Database[T] & string, ...(keyof Database[T] & string)[]] };

/**
 * Every copied table with its key. A table comes after the tables that it refers to, except that a tenant refers to its default login
 * profile (see `setDefaultProfiles`). `secret_key` is copied last: until then, a mark in it shows that the copy is unfinished, and Postern
 * refuses to start.
 */
export const copiedTables: Keys = {
  tenant: ['id'],
  login_profile: ['tid', 'id'],
  access_user: ['tid', 'id'],
  location: ['tid', 'id'],
  signature: ['tid'],
  share: ['tid', 'id'],
  share_user: ['tid', 'share_id', 'name_key'],
  share_group: ['tid', 'share_id', 'name_key'],
  share_list_change: ['tid', 'share_id'],
  link: ['view_key'],
  api_key: ['id'],
  api_token: ['hash'],
  operator: ['id'],
  operator_session: ['hash'],
  second_factor: ['id'],
  recovery_code: ['operator_id', 'code_key'],
  idempotency: ['tid', 'caller', 'key'],
  visit_session: ['tid', 'hash'],
  known_network: ['tid', 'profile_id', 'subject', 'network'],
  used_statement: ['tid', 'profile_id', 'statement_key'],
  sign_in_code: ['tid', 'id'],
  failure: ['id'],
  audit: ['tid', 'id'],
  ongoing: ['tid', 'key'],
  alert: ['tid', 'share_id', 'visitor', 'audit_id'],
  alert_digest: ['tid', 'share_id', 'visitor'],
  mail_content: ['id'],
  delivery: ['id'],
  unsubscribed: ['tid', 'share_id', 'recipient_key'],
  unsettled: ['tid', 'audit_id'],
  resumable_upload: ['tid', 'id'],
  counted_folder: ['tid', 'location_id', 'path'],
  used_space: ['tid', 'location_id', 'path', 'slot'],
  count_change: ['tid', 'location_id', 'path', 'action'],
  job: ['kind', 'key'],
  secret_key: ['fingerprint'],
};
export type TableName = CopiedTable;
export const tableNames = Object.keys(copiedTables).filter((name): name is TableName => name in copiedTables);

/** Maximum size of a page of rows. */
export const maxCopyPage = { rows: 1000, bytes: 16 << 20 };
const columnList = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)));
const rowKey = (table: TableName, row: CopiedRow) => copiedTables[table].map((name) => row[name]);
/** Returns the key of a row as a text that identifies it in its table. */
export const rowKeyText = (table: TableName, row: CopiedRow) => JSON.stringify(rowKey(table, row));

async function selectRows(db: Tx, query: RawBuilder<CopiedRow>): Promise<readonly CopiedRow[]> {
  return (await query.execute(db)).rows;
}

const rowBytes = (names: readonly string[]) =>
  sql.join(
    names.map((name) => sql`coalesce(octet_length(cast(${sql.ref(name)} as text)), 0)`),
    sql` + `,
  );

/** Returns how many of the remaining rows fit in a page: an audit entry with long lists may have several megabytes. */
async function nextPageSize(db: Tx, table: TableName, names: readonly string[], remainingRows: RawBuilder<unknown>): Promise<number> {
  const sizes = await sql<{ bytes: number }>`
    select ${rowBytes(names)} as bytes from ${sql.table(table)} ${remainingRows} limit ${sql.lit(maxCopyPage.rows)}`.execute(db);
  let bytes = 0;
  const firstBeyond = sizes.rows.findIndex((row) => {
    bytes += Number(row.bytes);
    return bytes > maxCopyPage.bytes;
  });
  return firstBeyond < 0 ? sizes.rows.length : Math.max(1, firstBeyond);
}

/** Yields all rows of a table in the order of its key, page by page. */
export async function* readPages(db: Tx, table: TableName): AsyncGenerator<readonly CopiedRow[]> {
  const key = columnList(copiedTables[table]);
  const [sample] = await selectRows(db, sql<CopiedRow>`select * from ${sql.table(table)} limit 1`);
  if (!sample) return;
  const names = Object.keys(sample);
  let after = sql``;
  for (;;) {
    const remainingRows = sql`${after} order by ${key}`;
    const size = await nextPageSize(db, table, names, remainingRows);
    const page = await selectRows(db, sql<CopiedRow>`select * from ${sql.table(table)} ${remainingRows} limit ${sql.lit(size)}`);
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = sql`where (${key}) > (${sql.join(rowKey(table, last))})`;
  }
}

/** Returns the rows of a table between the first and the last row of a page in key order, both included. */
export async function rowsBetween(db: Tx, table: TableName, page: readonly CopiedRow[]): Promise<readonly CopiedRow[]> {
  const [first, last] = [page.at(0), page.at(-1)];
  if (!first || !last) return [];
  const key = columnList(copiedTables[table]);
  const [from, to] = [first, last].map((row) => sql.join(rowKey(table, row)));
  return selectRows(db, sql<CopiedRow>`select * from ${sql.table(table)} where (${key}) >= (${from}) and (${key}) <= (${to})`);
}

/** Inserts rows into a table. Skips the rows that conflict with a row of the table. */
export async function addRows(tx: Tx, table: TableName, rows: readonly CopiedRow[]): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const names = Object.keys(first);
  const values = sql.join(rows.map((row) => sql`(${sql.join(names.map((name) => row[name]))})`));
  await sql`insert into ${sql.table(table)} (${columnList(names)}) values ${values} on conflict do nothing`.execute(tx);
}

export async function countRows(db: Tx, table: TableName): Promise<number> {
  const [row] = (await sql<{ total: number }>`select count(*) as total from ${sql.table(table)}`.execute(db)).rows;
  return row?.total ?? 0;
}
