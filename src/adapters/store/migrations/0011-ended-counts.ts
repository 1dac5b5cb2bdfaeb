import type { ColumnTypes, Migration } from './migration.ts';
import { createTriggerStatements } from './trigger.ts';

const tables = [
  ['share_count', ['shares']],
  ['user_count', ['users', 'active_users']],
] as const;
const endedProfile = '0'; // profile_id of the rows that all deleted profiles of a tenant share

/**
 * Moves the change counts of deleted profiles to rows that all deleted profiles of the tenant share, and deletes their own rows. The sum
 * of `changes` must not decrease: cached counts of searches are valid as long as the sum stays the same.
 */
function endCounts(types: ColumnTypes, where: (table: string) => string): string[] {
  const slot = types.engine === 'sqlite' ? '0' : 'pg_backend_pid() % 64';
  return tables.flatMap(([table, columns]) => [
    `INSERT INTO ${table} (tid, profile_id, slot, ${columns.join(', ')}, changes)
      SELECT tid, ${endedProfile}, ${slot}, ${columns.map(() => '0').join(', ')}, sum(changes) FROM ${table}
      WHERE ${where(table)} GROUP BY tid
      ON CONFLICT (tid, profile_id, slot) DO UPDATE SET changes = ${table}.changes + excluded.changes`,
    `DELETE FROM ${table} WHERE ${where(table)}`,
  ]);
}

/**
 * Deletes the counts of a login profile together with the profile. Each link password has a profile of its own: if the counts stayed, each
 * new link password would leave a row for ever, and each search sums up all rows.
 */
export const deletedProfileCounts: Migration = {
  name: '0011-ended-counts',
  statements: (types) => [
    ...endCounts(
      types,
      (table) =>
        `profile_id <> ${endedProfile} AND NOT EXISTS (SELECT 1 FROM login_profile AS p WHERE p.tid = ${table}.tid AND p.id = ${table}.profile_id)`,
    ),
    ...createTriggerStatements(
      types,
      'login_profile_ends',
      'AFTER DELETE ON login_profile',
      endCounts(types, () => 'tid = OLD.tid AND profile_id = OLD.id')
        .map((statement) => `${statement};`)
        .join('\n'),
    ),
  ],
};
