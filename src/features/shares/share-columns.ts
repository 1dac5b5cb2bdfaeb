import { sql } from 'kysely';
import { normalizeText } from '#core/unicode.ts';
import { emptyFirst, type Sortable, sortablePrefix } from '#features/records/record-search.ts';
import type { Flag } from '#ports/tables.ts';

/** The seven permissions and the other flags of a share, with their columns. */
export const flagColumns = {
  canDelete: 'can_delete',
  canUpload: 'can_upload',
  canCreateFolder: 'can_create_folder',
  canDownload: 'can_download',
  canDownloadFolder: 'can_download_folder',
  canView: 'can_view',
  canRename: 'can_rename',
  alertDelete: 'alert_delete',
  alertUpload: 'alert_upload',
  alertCreateFolder: 'alert_create_folder',
  alertDownload: 'alert_download',
  alertView: 'alert_view',
  alertRename: 'alert_rename',
  copyProtect: 'copy_protect',
  digitalSignature: 'digital_signature',
  allowAllUsers: 'allow_all_users',
  proxyMode: 'proxy_mode',
  folder: 'folder',
  active: 'active',
} as const;

/** The texts of a share that are stored as they are, with their columns. */
export const textColumns = {
  title: 'title',
  description: 'description',
  startupMessage: 'startup_message',
  waterMarkText: 'water_mark_text',
  digitalSignReason: 'digital_sign_reason',
} as const;

/**
 * Sorts a list by its first name; an empty list comes first. The share is given as two bounds in place of `=`: where few
 * shares have lists, PostgreSQL expects `=` to match a large part of the table, and reads all of it for each share.
 */
const firstName = (table: 'share_user' | 'share_group') =>
  sql<string>`coalesce((select name_key from ${sql.table(table)} as listed
    where listed.tid = share.tid and listed.share_id >= share.id and listed.share_id <= share.id order by position limit 1), '')`;

/** Columns by which share/search can sort: every stored scalar field. */
export const shareSortColumns: Sortable = {
  id: 'share.id',
  ...Object.fromEntries(Object.entries(flagColumns).map(([field, column]) => [field, `share.${column}`])),
  ...Object.fromEntries(Object.entries(textColumns).map(([field, column]) => [field, sortablePrefix(`share.${column}`)])),
  title: 'share.title',
  location: sql<string>`(select name from location as its where its.tid = share.tid and its.id = share.location_id)`,
  path: 'share.path_key',
  viewId: 'share.view_id',
  notifyEmails: sortablePrefix('share.notify_emails'),
  tid: 'share.tid',
  authenticationId: 'share.profile_id',
  authTypeId: sql<number>`(select type_id from login_profile as its where its.tid = share.tid and its.id = share.profile_id)`,
  userNames: firstName('share_user'),
  groupNames: firstName('share_group'),
  validityStartDate: emptyFirst('share.valid_from'),
  validityEndDate: emptyFirst('share.valid_to'),
  createdOwner: 'share.created_owner',
  updatedOwner: 'share.updated_owner',
  createDateTime: 'share.created_at',
  updateDateTime: 'share.updated_at',
};

type FlagField = keyof typeof flagColumns;
type TextField = keyof typeof textColumns;
type FlagRow = { -readonly [F in FlagField as (typeof flagColumns)[F]]: Flag };
type TextRow = { -readonly [F in TextField as (typeof textColumns)[F]]: string };
type FlagRecord = { -readonly [F in FlagField]: boolean };
type TextRecord = { -readonly [F in TextField]: string };

/** Returns the columns of the flags and texts that a request contains; null clears. */
export function plainColumns(
  body: { readonly [F in FlagField]?: boolean | null } & { readonly [F in TextField]?: string | null },
): Partial<FlagRow & TextRow> {
  const row: Record<string, Flag | string> = {};
  for (const [field, column] of Object.entries(flagColumns)) {
    const value: unknown = Reflect.get(body, field);
    if (value !== undefined) row[column] = value === true ? 1 : 0;
  }
  for (const [field, column] of Object.entries(textColumns)) {
    const value: unknown = Reflect.get(body, field);
    if (value !== undefined) row[column] = typeof value === 'string' ? normalizeText(value) : '';
  }
  return row;
}

/** Returns the flags and texts of a row by their field names. */
export function plainFields(row: FlagRow & TextRow): FlagRecord & TextRecord {
  return {
    canDelete: row.can_delete === 1,
    canUpload: row.can_upload === 1,
    canCreateFolder: row.can_create_folder === 1,
    canDownload: row.can_download === 1,
    canDownloadFolder: row.can_download_folder === 1,
    canView: row.can_view === 1,
    canRename: row.can_rename === 1,
    alertDelete: row.alert_delete === 1,
    alertUpload: row.alert_upload === 1,
    alertCreateFolder: row.alert_create_folder === 1,
    alertDownload: row.alert_download === 1,
    alertView: row.alert_view === 1,
    alertRename: row.alert_rename === 1,
    copyProtect: row.copy_protect === 1,
    digitalSignature: row.digital_signature === 1,
    allowAllUsers: row.allow_all_users === 1,
    proxyMode: row.proxy_mode === 1,
    folder: row.folder === 1,
    active: row.active === 1,
    title: row.title,
    description: row.description,
    startupMessage: row.startup_message,
    waterMarkText: row.water_mark_text,
    digitalSignReason: row.digital_sign_reason,
  };
}

/** The columns of a new share before the request is merged in: every flag off, every text empty. */
export const emptyColumns: FlagRow & TextRow = {
  can_delete: 0,
  can_upload: 0,
  can_create_folder: 0,
  can_download: 0,
  can_download_folder: 0,
  can_view: 0,
  can_rename: 0,
  alert_delete: 0,
  alert_upload: 0,
  alert_create_folder: 0,
  alert_download: 0,
  alert_view: 0,
  alert_rename: 0,
  copy_protect: 0,
  digital_signature: 0,
  allow_all_users: 0,
  proxy_mode: 0,
  folder: 0,
  active: 0,
  title: '',
  description: '',
  startup_message: '',
  water_mark_text: '',
  digital_sign_reason: '',
};
