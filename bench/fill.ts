import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { firstNames, lastNames, records, type ShareRecord, seededRandom } from './records.ts';

const tenants = 100;
const flags = [
  ...['can_delete', 'can_upload', 'can_create_folder', 'can_download', 'can_download_folder', 'can_view', 'can_rename'],
  ...['alert_delete', 'alert_upload', 'alert_create_folder', 'alert_download', 'alert_view', 'alert_rename'],
  ...['copy_protect', 'digital_signature', 'allow_all_users', 'proxy_mode', 'folder'],
];
const on = ['can_download', 'can_view', 'allow_all_users'];
const firstTime = 1_700_000_000_000;

/** The location and login profile of a tenant's shares. */
interface Place {
  readonly profile: number;
  readonly location: number;
}

type Value = string | number | null;
type Row = Record<string, Value>;

const never = Date.UTC(2100, 0);

/**
 * Returns the validity of a share, as in an installation that is some years old: most of the oldest shares have
 * expired, and some of the newest are not valid yet. Some shares of any age are inactive.
 */
function stateOf(number: number, total: number): Row {
  const numberInTenant = Math.floor(number / 2); // every second share belongs to tenant 1
  const active = numberInTenant % 16 === 7 ? 0 : 1;
  if (number < total / 10) return { active, valid_from: null, valid_to: numberInTenant % 5 === 0 ? null : firstTime + number * 1000 + 1 };
  if (number > total * 0.75) return { active, valid_from: numberInTenant % 3 === 0 ? never : null, valid_to: null };
  return { active, valid_from: null, valid_to: numberInTenant % 3 === 0 ? never : null };
}

function rowOf({ tid, title, description, path, viewId }: ShareRecord, number: number, total: number, { profile, location }: Place): Row {
  const text = [title, description, path, viewId].join('\u001f').normalize('NFC').toLowerCase();
  return {
    ...{ id: number + 1, tid, version: 1, created_owner: 'bench', updated_owner: 'bench' },
    ...{ created_at: firstTime + number * 1000, updated_at: firstTime + number * 1000 + (number % 1000) * 77_777 },
    ...{ title, location_id: location, path, path_key: path, profile_id: profile, view_id: viewId, description, search_text: text },
    ...{ notify_emails: '', startup_message: '', water_mark_text: '', digital_sign_reason: '' },
    ...Object.fromEntries(flags.map((flag) => [flag, on.includes(flag) ? 1 : 0])),
    ...stateOf(number, total),
  };
}

function accessUserRow(number: number, profile: number): Row {
  const random = seededRandom(number);
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? '';
  const [first, last] = [pick(firstNames), pick(lastNames)];
  const username = `${first}.${last}.${number}`.toLowerCase();
  const email = `${username}@example.com`;
  return {
    ...{ tid: 1, version: 1, created_owner: 'bench', updated_owner: 'bench', created_at: firstTime + number * 1000 },
    ...{ updated_at: firstTime + number * 1000 + (number % 1000) * 77_777, profile_id: profile, session_epoch: 0 },
    ...{ username, username_key: username, first_name: first, last_name: last, email, email_key: email },
    ...{ active: random() < 0.06 ? 0 : 1, search_text: [username, first, last, email].join('\u001f').toLowerCase() },
  };
}

const copyRow = (row: object, changes: Row): Row => ({ ...Object.fromEntries(Object.entries(row)), ...changes });
const idOf = (row: unknown) => Number(Reflect.get(Object(row), 'id'));

/** Fills an embedded database with `total` shares of a hundred tenants, and with `total / 2` access users of the first tenant. */
export function fillSqlite(file: string, total: number): void {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA synchronous=OFF; PRAGMA cache_size=-400000; BEGIN');
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const prepare = (table: string, columns: readonly string[]) => {
    const values = columns.map(() => '?');
    const statement = database.prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${values.join()})`);
    prepared.set(table, statement);
    return statement;
  };
  const insert = (table: string, row: Row) => {
    const statement = prepared.get(table) ?? prepare(table, Object.keys(row));
    return Number(statement.run(...Object.values(row)).lastInsertRowid);
  };
  const first = (table: string) => Object(database.prepare(`SELECT * FROM ${table} WHERE tid = 1`).get());
  const { id: profile, ...profileRow } = first('login_profile');
  const { id: location, ...locationRow } = first('location');
  const places = new Map<number, Place>([[1, { profile, location }]]);
  for (let number = 2; number <= tenants; number += 1) {
    const tid = insert('tenant', { title: `Tenant ${number}`, created_at: firstTime });
    places.set(tid, {
      profile: insert('login_profile', copyRow(profileRow, { tid, view_id: `portal-of-${number}` })),
      location: insert('location', copyRow(locationRow, { tid })),
    });
  }
  const others = [...places.keys()].slice(1);
  let number = 0;
  for (const record of records(total, others)) {
    insert('share', rowOf(record, number, total, places.get(record.tid) ?? { profile, location }));
    insert('link', { view_key: record.viewId.toLowerCase(), tid: record.tid, share_id: number + 1 });
    number += 1;
  }
  for (let index = 0; index < total / 2; index += 1) insert('access_user', accessUserRow(index, profile));
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

const rowsPerInsert = 20_000;

/** Fills a PostgreSQL database with shares. Creates the indexes of the shares after the rows, which is faster. */
export async function fillPostgres(url: string, total: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const one = async (text: string, values: readonly unknown[] = []) => (await client.query(text, [...values])).rows[0];
  const insert = async (table: string, row: Row) => {
    const names = Object.keys(row);
    return idOf(
      await one(
        `INSERT INTO ${table} (${names.join()}) VALUES (${names.map((_, index) => `$${index + 1}`).join()}) RETURNING id`,
        Object.values(row),
      ),
    );
  };
  const { id: profile, ...profileRow } = await one('SELECT * FROM login_profile WHERE tid = 1');
  const { id: location, ...locationRow } = await one('SELECT * FROM location WHERE tid = 1');
  const places = new Map<number, Place>([[1, { profile: Number(profile), location: Number(location) }]]);
  for (let number = 2; number <= tenants; number += 1) {
    const tid = await insert('tenant', { title: `Tenant ${number}`, created_at: firstTime });
    places.set(tid, {
      profile: await insert('login_profile', copyRow(profileRow, { tid, view_id: `portal-of-${number}` })),
      location: await insert('location', copyRow(locationRow, { tid })),
    });
  }
  const { rows: indexes } = await client.query(
    "SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE tablename = 'share' AND indexname NOT LIKE '%_pkey'",
  );
  await client.query("SET synchronous_commit = off; SET maintenance_work_mem = '1GB'; ALTER TABLE share DISABLE TRIGGER ALL");
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  let rows: Row[] = [];
  const flush = async () => {
    const names = Object.keys(rows[0] ?? {});
    const types = names.map((name, index) => `$${index + 1}::${typeof rows[0]?.[name] === 'string' ? 'text' : 'bigint'}[]`);
    const columns = names.map((name) => rows.map((row) => row[name]));
    await client.query(`INSERT INTO share (${names.join()}) SELECT * FROM unnest(${types.join()})`, columns);
    await client.query(
      'INSERT INTO link (view_key, tid, share_id) SELECT lower(v), t, s FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS r(v, t, s)',
      [rows.map((row) => row['view_id']), rows.map((row) => row['tid']), rows.map((row) => row['id'])],
    );
    rows = [];
  };
  let number = 0;
  for (const record of records(total, [...places.keys()].slice(1))) {
    rows.push(rowOf(record, number, total, places.get(record.tid) ?? { profile: 0, location: 0 }));
    number += 1;
    if (rows.length === rowsPerInsert || number === total) await flush();
  }
  for (const { definition } of indexes) await client.query(definition);
  await client.query('ALTER TABLE share ENABLE TRIGGER ALL');
  await client.query(
    'INSERT INTO share_count (tid, profile_id, slot, shares, changes) SELECT tid, profile_id, 0, count(*), 1 FROM share GROUP BY tid, profile_id',
  );
  await client.query(`SELECT setval(pg_get_serial_sequence('share', 'id'), ${total})`);
  await client.query('VACUUM ANALYZE');
  await client.end();
}
