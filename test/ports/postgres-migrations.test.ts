import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { migrations } from '#adapters/store/migrations/migrations.ts';
import { migratePostgres } from '#adapters/store/postgres/migrate.ts';
import { startEmptyPostgres } from '../parts/empty-postgres.ts';

/** Inserts a row. Each column that needs a value and is not in `row` gets 0 or an empty string. */
async function insert(client: pg.Client, table: string, row: Record<string, number | string>): Promise<void> {
  const { rows } = await client.query(
    "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $1 AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'",
    [table],
  );
  const blank = rows.map(({ column_name, data_type }) => [column_name, data_type === 'text' ? '' : 0]);
  const values: Record<string, number | string> = { ...Object.fromEntries(blank), ...row };
  const columns = Object.keys(values);
  const places = columns.map((_, index) => `$${index + 1}`);
  await client.query(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')})`, Object.values(values));
}

test('migrations run without statement and lock timeouts (PostgreSQL)', async (t) => {
  const { url, client } = await startEmptyPostgres(t);
  const limits = `DO $$ BEGIN
    IF current_setting('statement_timeout') <> '0' OR current_setting('lock_timeout') <> '0' THEN RAISE 'limited'; END IF; END $$`;
  const announcements: (readonly string[])[] = [];
  const announce = (steps: readonly string[]) => void announcements.push(steps);
  await migratePostgres(url, migrations, announce);
  await migratePostgres(url, [...migrations, { name: '9999-long', statements: () => [limits] }], announce);
  assert.deepEqual(announcements, [['9999-long']]);
  const { rows } = await client.query("SELECT name FROM migration WHERE name = '9999-long'");
  assert.equal(rows.length, 1);
});

test('a migration sets the number of listed names of each share and keeps the share counts (PostgreSQL)', async (t) => {
  const { url, client } = await startEmptyPostgres(t);
  const before = migrations.filter(({ name }) => name < '0005');
  await migratePostgres(url, before, () => {});
  await insert(client, 'tenant', { id: 1 });
  await insert(client, 'login_profile', { id: 1, tid: 1 });
  await insert(client, 'location', { id: 1, tid: 1 });
  for (const id of [1, 2, 3]) await insert(client, 'share', { id, tid: 1, profile_id: 1, location_id: 1 });
  await insert(client, 'share_group', { tid: 1, share_id: 2 });
  const readCounts = async () => (await client.query('SELECT shares, changes FROM share_count')).rows;
  const countsBefore = await readCounts();

  await migratePostgres(url, migrations, () => {});

  assert.deepEqual(await readCounts(), countsBefore);
  const { rows } = await client.query('SELECT listed_names FROM share ORDER BY id');
  assert.deepEqual(
    rows.map(({ listed_names }) => Number(listed_names)),
    [0, 1, 0],
  );
  await client.query('UPDATE share SET active = 1 WHERE id = 1');
  assert.notDeepEqual(await readCounts(), countsBefore, 'later changes are counted');
});

test('a migration deletes the counts of deleted login profiles and keeps the number of changes (PostgreSQL)', async (t) => {
  const { url, client } = await startEmptyPostgres(t);
  await migratePostgres(
    url,
    migrations.filter(({ name }) => name < '0011'),
    () => {},
  );
  await insert(client, 'tenant', { id: 1 });
  await insert(client, 'login_profile', { id: 1, tid: 1 });
  const values = [1, 7, 8].flatMap((profile) => [3, 4].map((slot) => `(1, ${profile}, ${slot}, 0, 5)`)).join();
  await client.query(`INSERT INTO share_count (tid, profile_id, slot, shares, changes) VALUES ${values}`);
  await client.query('INSERT INTO user_count (tid, profile_id, slot, users, active_users, changes) VALUES (1, 7, 3, 0, 0, 2)');
  const counts = async (table: string) => {
    const statement = `SELECT profile_id::int AS profile, sum(changes)::int AS changes FROM ${table} GROUP BY profile_id ORDER BY profile_id`;
    return (await client.query(statement)).rows;
  };
  await migratePostgres(url, migrations, () => {});
  assert.deepEqual(await counts('share_count'), [
    { profile: 0, changes: 20 },
    { profile: 1, changes: 10 },
  ]);
  assert.deepEqual(await counts('user_count'), [{ profile: 0, changes: 2 }]);
  await client.query('DELETE FROM login_profile WHERE id = 1');
  assert.deepEqual(await counts('share_count'), [{ profile: 0, changes: 30 }]);
});

test('a migration keeps pending alerts and adds their visitors (PostgreSQL)', async (t) => {
  const { url, client } = await startEmptyPostgres(t);
  const migrate = (below: string) =>
    migratePostgres(
      url,
      migrations.filter(({ name }) => name < below),
      () => {},
    );
  await migrate('0008');
  await insert(client, 'tenant', { id: 1 });
  for (const id of [1, 2]) await insert(client, 'audit', { id, tid: 1, address: '192.0.2.7' });
  await insert(client, 'alert', { id: 1, tid: 1, audit_id: 1, emails: 'owner@example.com' });
  await migrate('0023');
  await client.query("UPDATE audit SET identity_key = 'user 5' WHERE id = 2");
  await insert(client, 'alert', { id: 2, tid: 1, audit_id: 2 });

  await migratePostgres(url, migrations, () => {});

  const { rows } = await client.query('SELECT visitor FROM alert ORDER BY audit_id');
  assert.deepEqual(
    rows.map(({ visitor }) => visitor),
    ['address 192.0.2.7', 'user 5'],
  );
});

test('after a migration, an update of many shares writes one count row, and counts are correct (PostgreSQL)', async (t) => {
  const { url, client } = await startEmptyPostgres(t);
  await migratePostgres(
    url,
    migrations.filter(({ name }) => name < '0009'),
    () => {},
  );
  await insert(client, 'tenant', { id: 1 });
  for (const id of [1, 2]) await insert(client, 'login_profile', { id, tid: 1 });
  await insert(client, 'location', { id: 1, tid: 1 });
  for (let id = 1; id <= 50; id += 1) await insert(client, 'share', { id, tid: 1, profile_id: 1, location_id: 1 });
  await migratePostgres(url, migrations, () => {});
  for (let id = 51; id <= 60; id += 1) await insert(client, 'share', { id, tid: 1, profile_id: 1, location_id: 1 });
  for (const [id, active] of [
    [1, 1],
    [2, 0],
    [3, 1],
  ] as const)
    await insert(client, 'access_user', { id, tid: 1, profile_id: 1, active, username_key: `${id}` });
  const counts = async () =>
    (
      await client.query(
        'SELECT profile_id::int, sum(shares)::int AS shares, (SELECT sum(users)::int FROM user_count AS u WHERE u.profile_id = s.profile_id) AS users, (SELECT sum(active_users)::int FROM user_count AS u WHERE u.profile_id = s.profile_id) AS active FROM share_count AS s GROUP BY profile_id ORDER BY profile_id',
      )
    ).rows;
  assert.deepEqual(await counts(), [{ profile_id: 1, shares: 60, users: 3, active: 2 }]);
  const countUpdates = async () =>
    (await client.query("SELECT pg_stat_get_xact_tuples_updated('share_count'::regclass)::int AS updated")).rows[0].updated;
  await client.query('BEGIN');
  const before = await countUpdates();
  await client.query('UPDATE share SET version = version + 1');
  assert.equal((await countUpdates()) - before, 1);
  await client.query('COMMIT');
  await client.query('UPDATE share SET profile_id = 2 WHERE id <= 20');
  await client.query('UPDATE access_user SET profile_id = 2, active = 0 WHERE id = 1');
  await client.query('DELETE FROM share WHERE id > 55');
  assert.deepEqual(await counts(), [
    { profile_id: 1, shares: 35, users: 2, active: 1 },
    { profile_id: 2, shares: 20, users: 1, active: 0 },
  ]);
});
