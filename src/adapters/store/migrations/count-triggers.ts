import type { ColumnTypes } from './migration.ts';
import { createTriggerStatements } from './trigger.ts';

// On PostgreSQL, a count has this many rows. Each connection always updates the same one, so that concurrent changes rarely wait for one
// another.
const slots = 64;

/**
 * Returns the statements that create a table of counts and the triggers that update it. The count of a login profile is the sum of its
 * rows.
 */
function counts(types: ColumnTypes, of: string, table: string, columns: Readonly<Record<string, (row: 'OLD' | 'NEW') => string>>) {
  const { engine, integer: int } = types;
  const slot = engine === 'sqlite' ? '0' : `pg_backend_pid() % ${slots}`;
  const names = Object.keys(columns);
  const add = (row: 'OLD' | 'NEW', sign: '' | '-') =>
    `INSERT INTO ${table} (tid, profile_id, slot, ${names.join(', ')}, changes)
      VALUES (${row}.tid, ${row}.profile_id, ${slot}, ${Object.values(columns)
        .map((value) => `${sign}${value(row)}`)
        .join(', ')}, 1)
      ON CONFLICT (tid, profile_id, slot) DO UPDATE SET
        ${names.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')}, changes = ${table}.changes + 1;`;
  const [addNew, subtractOld] = [add('NEW', ''), add('OLD', '-')];
  return [
    `CREATE TABLE ${table} (
      tid ${int} NOT NULL, profile_id ${int} NOT NULL, slot ${int} NOT NULL,
      ${names.map((name) => `${name} ${int} NOT NULL`).join(', ')}, changes ${int} NOT NULL, PRIMARY KEY (tid, profile_id, slot))`,
    ...createTriggerStatements(types, `${of}_comes`, `AFTER INSERT ON ${of}`, addNew),
    ...createTriggerStatements(types, `${of}_goes`, `AFTER DELETE ON ${of}`, subtractOld),
    ...createTriggerStatements(types, `${of}_changes`, `AFTER UPDATE ON ${of}`, subtractOld + addNew),
  ];
}

/**
 * Returns the statements that create the counts of login profiles and their triggers. Shares and users have separate tables: a change that
 * adds shares reads the number of users, and must not conflict with changes that add users.
 */
export const countTriggers = (types: ColumnTypes): readonly string[] => [
  ...counts(types, 'share', 'share_count', { shares: () => '1' }),
  ...counts(types, 'access_user', 'user_count', { users: () => '1', active_users: (row) => `${row}.active` }),
];
