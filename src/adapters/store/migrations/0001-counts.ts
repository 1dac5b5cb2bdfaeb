import type { ColumnTypes } from './migration.ts';
import { trigger } from './trigger.ts';

// Connections to a server count in rows of their own, so that changes beside each other do not wait for one another.
const slots = 64;

/** What each login profile counts, kept by the database itself; a count is the sum of the profile's rows. */
export function countTriggers(types: ColumnTypes): readonly string[] {
  const { engine, integer: int } = types;
  const slot = engine === 'sqlite' ? '0' : `pg_backend_pid() % ${slots}`;
  const add = (row: 'OLD' | 'NEW', shares: string, users: string, active: string) =>
    `INSERT INTO profile_count (tid, profile_id, slot, shares, users, active_users, changes)
      VALUES (${row}.tid, ${row}.profile_id, ${slot}, ${shares}, ${users}, ${active}, 1)
      ON CONFLICT (tid, profile_id, slot) DO UPDATE SET shares = profile_count.shares + excluded.shares,
        users = profile_count.users + excluded.users, active_users = profile_count.active_users + excluded.active_users,
        changes = profile_count.changes + 1;`;
  const share = { comes: add('NEW', '1', '0', '0'), goes: add('OLD', '-1', '0', '0') };
  const user = { comes: add('NEW', '0', '1', 'NEW.active'), goes: add('OLD', '0', '-1', '-OLD.active') };
  return [
    `CREATE TABLE profile_count (
      tid ${int} NOT NULL, profile_id ${int} NOT NULL, slot ${int} NOT NULL, shares ${int} NOT NULL, users ${int} NOT NULL,
      active_users ${int} NOT NULL, changes ${int} NOT NULL, PRIMARY KEY (tid, profile_id, slot))`,
    ...trigger(types, 'share_comes', 'AFTER INSERT ON share', share.comes),
    ...trigger(types, 'share_goes', 'AFTER DELETE ON share', share.goes),
    ...trigger(types, 'share_changes', 'AFTER UPDATE ON share', share.goes + share.comes),
    ...trigger(types, 'access_user_comes', 'AFTER INSERT ON access_user', user.comes),
    ...trigger(types, 'access_user_goes', 'AFTER DELETE ON access_user', user.goes),
    ...trigger(types, 'access_user_changes', 'AFTER UPDATE ON access_user', user.goes + user.comes),
  ];
}
