import { sql } from 'kysely';
import { storedShareFields } from '#core/records/share.ts';
import { columnOf } from '#core/records/stored-fields.ts';
import { emptyFirst, type Sortable, sortablePrefix } from '#features/records/record-search.ts';

/**
 * Sort key of a list: the name in its first entry. An empty list comes first. The share is given as two bounds in place of `=`: where few
 * shares have lists, PostgreSQL expects `=` to match a large part of the table, and reads the entire table for each share.
 */
const firstName = (table: 'share_user' | 'share_group') =>
  sql<string>`coalesce((select name_key from ${sql.table(table)} as list_entry
    where list_entry.tid = share.tid and list_entry.share_id >= share.id and list_entry.share_id <= share.id order by position limit 1), '')`;

/** Columns by which share/search can sort: every stored field. */
export const shareSortColumns: Sortable = {
  id: 'share.id',
  ...Object.fromEntries(storedShareFields.flags.map((field) => [field, `share.${columnOf(field)}`])),
  ...Object.fromEntries(storedShareFields.texts.map((field) => [field, sortablePrefix(`share.${columnOf(field)}`)])),
  title: 'share.title',
  location: sql<string>`(select name from location as share_location where share_location.tid = share.tid and share_location.id = share.location_id)`,
  path: 'share.path_key',
  viewId: 'share.view_id',
  notifyEmails: sortablePrefix('share.notify_emails'),
  tid: 'share.tid',
  authenticationId: 'share.profile_id',
  authTypeId: sql<number>`(select type_id from login_profile as share_profile where share_profile.tid = share.tid and share_profile.id = share.profile_id)`,
  userNames: firstName('share_user'),
  groupNames: firstName('share_group'),
  validityStartDate: emptyFirst('share.valid_from'),
  validityEndDate: emptyFirst('share.valid_to'),
  maxBytes: emptyFirst('share.max_bytes'),
  maxFiles: emptyFirst('share.max_files'),
  createdOwner: 'share.created_owner',
  updatedOwner: 'share.updated_owner',
  createDateTime: 'share.created_at',
  updateDateTime: 'share.updated_at',
};
