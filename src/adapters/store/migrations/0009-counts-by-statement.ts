import type { Migration } from './migration.ts';

const events = [
  ['comes', 'INSERT', 'NEW TABLE AS come', ['come']],
  ['goes', 'DELETE', 'OLD TABLE AS gone', ['gone']],
  ['changes', 'UPDATE', 'OLD TABLE AS gone NEW TABLE AS come', ['gone', 'come']],
] as const;

function countByStatement(of: string, table: string, columns: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(columns);
  const rowsOf = { come: '', gone: '-' } as const;
  return events.flatMap(([event, operation, tables, sources]) => {
    const rows = sources.map(
      (source) =>
        `SELECT tid, profile_id, ${names.map((name) => `${rowsOf[source]}${columns[name]}::bigint AS ${name}`).join(', ')} FROM ${source}`,
    );
    const count = `INSERT INTO ${table} (tid, profile_id, slot, ${names.join(', ')}, changes)
      SELECT tid, profile_id, pg_backend_pid() % 64, ${names.map((name) => `sum(${name})::bigint`).join(', ')}, count(*)
      FROM (${rows.join(' UNION ALL ')}) AS counted GROUP BY tid, profile_id ORDER BY tid, profile_id
      ON CONFLICT (tid, profile_id, slot) DO UPDATE SET
        ${names.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')}, changes = ${table}.changes + excluded.changes;`;
    return [
      `DROP TRIGGER ${of}_${event} ON ${of}`,
      `CREATE OR REPLACE FUNCTION ${of}_${event}_does() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${count} RETURN NULL; END $$`,
      `CREATE TRIGGER ${of}_${event} AFTER ${operation} ON ${of} REFERENCING ${tables} FOR EACH STATEMENT EXECUTE FUNCTION ${of}_${event}_does()`,
    ];
  });
}

/**
 * On PostgreSQL, updates the numbers of shares and users per login profile once for each statement, not for each row. It keeps every
 * version of a row until the end of a transaction: with an update for each row, a change of ten thousand shares took eight
 * seconds, and one of forty thousand never ended.
 */
export const countsByStatement: Migration = {
  name: '0009-counts-by-statement',
  statements: ({ engine }) =>
    engine === 'sqlite'
      ? []
      : [
          ...countByStatement('share', 'share_count', { shares: '1' }),
          ...countByStatement('access_user', 'user_count', { users: '1', active_users: 'active' }),
        ],
};
