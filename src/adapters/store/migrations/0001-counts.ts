import type { ColumnTypes } from './migration.ts';
import { trigger } from './trigger.ts';

// Connections to a server count in rows of their own, so that changes beside each other do not wait for one another.
const slots = 64;

/** A table that a trigger keeps: what each login profile counts is the sum of its rows. */
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
  const [comes, goes] = [add('NEW', ''), add('OLD', '-')];
  return [
    `CREATE TABLE ${table} (
      tid ${int} NOT NULL, profile_id ${int} NOT NULL, slot ${int} NOT NULL,
      ${names.map((name) => `${name} ${int} NOT NULL`).join(', ')}, changes ${int} NOT NULL, PRIMARY KEY (tid, profile_id, slot))`,
    ...trigger(types, `${of}_comes`, `AFTER INSERT ON ${of}`, comes),
    ...trigger(types, `${of}_goes`, `AFTER DELETE ON ${of}`, goes),
    ...trigger(types, `${of}_changes`, `AFTER UPDATE ON ${of}`, goes + comes),
  ];
}

/**
 * What login profiles count, kept by the database itself. Two tables: who adds shares reads how many users there are,
 * and must not meet those who add others.
 */
export const countTriggers = (types: ColumnTypes): readonly string[] => [
  ...counts(types, 'share', 'share_count', { shares: () => '1' }),
  ...counts(types, 'access_user', 'user_count', { users: () => '1', active_users: (row) => `${row}.active` }),
];
