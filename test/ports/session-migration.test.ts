import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { migrations } from '#adapters/store/migrations/migrations.ts';
import { migratePostgres } from '#adapters/store/postgres/migrate.ts';
import { migrateSqlite } from '#adapters/store/sqlite/migrate.ts';
import { atEnd } from '../parts/at-end.ts';
import { startEmptyPostgres } from '../parts/empty-postgres.ts';
import { temporaryFolder } from '../start.ts';

/** A database that a test migrates in steps. */
interface MigratedDatabase {
  /** Runs the migrations whose names sort before `end`; default: all. */
  migrate(end?: string): Promise<void>;
  query(sql: string): Promise<Record<string, unknown>[]>;
}

const stepsBefore = (end: string) => migrations.filter((migration) => migration.name < end);

async function sqliteDatabase(t: TestContext): Promise<MigratedDatabase> {
  const folder = await temporaryFolder(t);
  const database = new DatabaseSync(join(folder, 'postern.db'));
  atEnd(t, async () => database.close());
  return {
    migrate: async (end = '9999') =>
      migrateSqlite(
        database,
        stepsBefore(end),
        (step) => join(folder, step),
        () => {},
      ),
    query: async (sql) =>
      database
        .prepare(sql)
        .all()
        .map((row) => ({ ...row })),
  };
}

async function postgresDatabase(t: TestContext): Promise<MigratedDatabase> {
  const { url, client } = await startEmptyPostgres(t);
  return {
    migrate: (end = '9999') => migratePostgres(url, stepsBefore(end), () => {}),
    query: async (sql) => (await client.query(sql)).rows,
  };
}

const stamps = "1, 'o', 'o', 0, 0";
const insertStatements = [
  "INSERT INTO tenant (id, title, created_at) VALUES (1, 'Tenant', 0)",
  ...[
    [7, 2, 'guest "of" honour'],
    [8, 3, ''],
  ].map(
    ([id, type, username]) =>
      `INSERT INTO login_profile (id, tid, version, created_owner, updated_owner, created_at, updated_at, title, description, ip_range,
        type_id, view_id, username, username_key, password, lang, startup_message, configuration, session_epoch, search_text)
        VALUES (${id}, 1, ${stamps}, '', '', '', ${type}, '${id}', '${username}', '', '', '', '', '', 1, '')`,
  ),
  `INSERT INTO access_user (id, tid, version, created_owner, updated_owner, created_at, updated_at, profile_id, username, username_key,
    first_name, last_name, email, email_key, active, session_epoch, search_text)
    VALUES (5, 1, ${stamps}, 8, 'zoë', 'zoë', '', '', 'zoe@example.com', '', 1, 3, '')`,
  ...["'one', 7, 1, NULL, NULL, 'guest', 1000", "'two', 8, 1, 5, 3, 'zoë', 2000"].map(
    (session) =>
      `INSERT INTO visit_session (tid, hash, profile_id, profile_epoch, user_id, user_epoch, name, created_at, used_at)
        VALUES (1, ${session}, 9)`,
  ),
];

for (const [engine, open] of [
  ['SQLite', sqliteDatabase],
  ['PostgreSQL', postgresDatabase],
] as const)
  test(`a migration gives existing sessions the identity of their user or login profile (${engine})`, async (t) => {
    const { migrate, query } = await open(t);
    await migrate('0014');
    for (const statement of insertStatements) await query(statement);

    await migrate();

    const sessions = await query('SELECT identity FROM visit_session ORDER BY hash');
    const name = 'guest "of" honour';
    assert.deepEqual(
      sessions.map(({ identity }) => JSON.parse(String(identity))),
      [
        { subject: '7', name, email: '', names: [name], groups: [], claimsAt: 1000 },
        { subject: '5', name: 'zoë', email: 'zoe@example.com', names: ['zoë'], groups: [], claimsAt: 2000 },
      ],
    );
  });
