import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

/** A row of whatever table. */
export type Row = Readonly<Record<string, unknown>>;

/** Which processes live, and who may still come first, is no part of a copy; the counts are made again by the database itself. */
type Copied = Exclude<keyof Database, 'process' | 'console_invitation' | 'share_count' | 'user_count'>;
type Keys = { readonly [T in Copied]: readonly [keyof Database[T] & string, ...(keyof Database[T] & string)[]] };

/** Every table with its key, each behind those that it refers to; what lets Postern start comes last. */
export const copiedTables: Keys = {
  tenant: ['id'],
  login_profile: ['tid', 'id'],
  access_user: ['tid', 'id'],
  location: ['tid', 'id'],
  share: ['tid', 'id'],
  share_user: ['tid', 'share_id', 'name_key'],
  share_group: ['tid', 'share_id', 'name_key'],
  link: ['view_key'],
  api_key: ['id'],
  api_token: ['hash'],
  operator: ['id'],
  operator_session: ['hash'],
  idempotency: ['tid', 'caller', 'key'],
  visit_session: ['tid', 'hash'],
  failure: ['id'],
  audit: ['tid', 'id'],
  ongoing: ['tid', 'key'],
  alert_list: ['tid', 'digest'],
  alert: ['tid', 'id'],
  unsettled: ['tid', 'audit_id'],
  job: ['kind', 'key'],
  secret_key: ['fingerprint'],
};
export type TableName = Copied;
export const tableNames = Object.keys(copiedTables).filter((name): name is TableName => name in copiedTables);

/** Most of a page of rows. */
export const largestPage = { rows: 1000, bytes: 16 << 20 };
const columns = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)));
const keyOf = (table: TableName, row: Row) => copiedTables[table].map((name) => row[name]);
/** Names a row among those of its table. */
export const nameOf = (table: TableName, row: Row) => JSON.stringify(keyOf(table, row));

async function rows(db: Tx, query: RawBuilder<Row>): Promise<readonly Row[]> {
  return (await query.execute(db)).rows;
}

const bytesOf = (names: readonly string[]) =>
  sql.join(
    names.map((name) => sql`coalesce(octet_length(cast(${sql.ref(name)} as text)), 0)`),
    sql` + `,
  );

/** How many of the rows that follow are a page: an audit entry of long lists may hold megabytes. */
async function nextPageSize(db: Tx, table: TableName, names: readonly string[], following: RawBuilder<unknown>): Promise<number> {
  const sizes = await sql<{ bytes: number }>`
    select ${bytesOf(names)} as bytes from ${sql.table(table)} ${following} limit ${sql.lit(largestPage.rows)}`.execute(db);
  let bytes = 0;
  const beyond = sizes.rows.findIndex((row) => {
    bytes += Number(row.bytes);
    return bytes > largestPage.bytes;
  });
  return beyond < 0 ? sizes.rows.length : Math.max(1, beyond);
}

/** All rows of a table in the order of its key, a page at a time. */
export async function* pagesOf(db: Tx, table: TableName): AsyncGenerator<readonly Row[]> {
  const key = columns(copiedTables[table]);
  const [sample] = await rows(db, sql<Row>`select * from ${sql.table(table)} limit 1`);
  if (!sample) return;
  const names = Object.keys(sample);
  let after = sql``;
  for (;;) {
    const following = sql`${after} order by ${key}`;
    const size = await nextPageSize(db, table, names, following);
    const page = await rows(db, sql<Row>`select * from ${sql.table(table)} ${following} limit ${sql.lit(size)}`);
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = sql`where (${key}) > (${sql.join(keyOf(table, last))})`;
  }
}

/** The rows of a table from the first to the last of these, which are in the order of its key. */
export async function rowsBetween(db: Tx, table: TableName, page: readonly Row[]): Promise<readonly Row[]> {
  const [first, last] = [page.at(0), page.at(-1)];
  if (!first || !last) return [];
  const key = columns(copiedTables[table]);
  const [from, to] = [first, last].map((row) => sql.join(keyOf(table, row)));
  return rows(db, sql<Row>`select * from ${sql.table(table)} where (${key}) >= (${from}) and (${key}) <= (${to})`);
}

/** Adds rows of a table; those that are there stay. */
export async function addRows(tx: Tx, table: TableName, added: readonly Row[]): Promise<void> {
  const [first] = added;
  if (!first) return;
  const names = Object.keys(first);
  const values = sql.join(added.map((row) => sql`(${sql.join(names.map((name) => row[name]))})`));
  await sql`insert into ${sql.table(table)} (${columns(names)}) values ${values} on conflict do nothing`.execute(tx);
}

export async function countOf(db: Tx, table: TableName): Promise<number> {
  const [counted] = (await sql<{ total: number }>`select count(*) as total from ${sql.table(table)}`.execute(db)).rows;
  return counted?.total ?? 0;
}
