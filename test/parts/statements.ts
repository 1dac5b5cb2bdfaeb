import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import pg from 'pg';

/** Tables that can be divided among database servers by tenant: each has the id of the tenant in its keys. */
export const tenantTables = [
  ...['login_profile', 'access_user', 'location', 'share', 'share_user', 'share_group', 'share_list_change', 'share_count', 'user_count'],
  ...[
    'idempotency',
    'visit_session',
    'known_network',
    'used_statement',
    'audit',
    'ongoing',
    'alert',
    'alert_digest',
    'unsubscribed',
    'unsettled',
    'resumable_upload',
    'counted_folder',
    'signature',
    'used_space',
    'count_change',
    'sign_in_code',
  ],
];

/** Records every statement that this thread prepares (SQLite) or sends (PostgreSQL), until the test ends. */
export function recordStatements(t: TestContext): Set<string> {
  const statements = new Set<string>();
  const { query } = pg.Client.prototype;
  const { prepare } = DatabaseSync.prototype;
  t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
    statements.add(sql);
    return prepare.call(this, sql);
  });
  t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...parameters: unknown[]) {
    const [first] = parameters;
    statements.add(typeof first === 'string' ? first : String(Reflect.get(Object(first), 'text')));
    return Reflect.apply(query, this, parameters);
  });
  return statements;
}

/** Returns the tables of `tenantTables` that a statement reads or changes without a condition or value for the tenant. */
export function tablesWithoutTenant(statement: string): string[] {
  const sql = statement.replaceAll('"', '').replace(/\s+/g, ' ').toLowerCase();
  const uses = [...sql.matchAll(/\b(from|join|into|update) (\w+)(?: as (\w+))?/g)];
  return uses.flatMap(([, how, table = '', alias]) => {
    if (!tenantTables.includes(table)) return [];
    if (how === 'into') return /\(([^)]*\b)?tid\b/.test(sql.slice(sql.indexOf(`into ${table}`))) ? [] : [table];
    const name = alias ?? table;
    const hasTenant = new RegExp(`\\b${name}\\.tid (=|in)|= ${name}\\.tid\\b|[ (]tid (=|in) `).test(sql);
    return hasTenant ? [] : [table];
  });
}
