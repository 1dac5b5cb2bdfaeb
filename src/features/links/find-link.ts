import { type Selectable, sql } from 'kysely';
import { packRangeText } from '#core/authorization/address-range.ts';
import type { ProfileRules, ShareRules, VisitorNames } from '#core/authorization/share-rules.ts';
import { foldedNames } from '#core/fold.ts';
import { listsUsersById, requiresSignIn } from '#core/records/login-profile.ts';
import type { Identity } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';
import type { ShareTable } from '#ports/tables.ts';
import { findViewIdOwner } from './view-ids.ts';

/** Returns an SQL expression for the address ranges that an earlier version stored as text only. It is null for packed ranges. */
export const unpackedRanges = (profile: string) =>
  sql<string | null>`case when ${sql.ref(profile)}.ip_bounds is null then ${sql.ref(profile)}.ip_range end`;

const selectLinks = (db: Tx) =>
  db
    .selectFrom('share')
    .innerJoin('login_profile as profile', (join) =>
      join.onRef('profile.tid', '=', 'share.tid').onRef('profile.id', '=', 'share.profile_id'),
    )
    .innerJoin('location', (join) => join.onRef('location.tid', '=', 'share.tid').onRef('location.id', '=', 'share.location_id'))
    .selectAll('share')
    .select([
      'profile.type_id',
      'profile.title as profile_title',
      'profile.for_link as profile_for_link',
      'profile.ip_bounds',
      unpackedRanges('profile').as('ip_range'),
      'profile.view_id as profile_view_id',
      'profile.username as profile_username',
      'profile.startup_message as profile_startup_message',
      'profile.lang',
      'profile.session_epoch',
      'location.kind',
      'location.configuration',
      'location.max_bytes as location_max_bytes',
      'location.max_files as location_max_files',
    ]);

/** A link: the share, its login profile and its location, read by one query. */
export type LinkRow = Awaited<ReturnType<ReturnType<typeof selectLinks>['execute']>>[number];

export const findLinkOfShare = (db: Tx, tid: number, id: number): Promise<LinkRow | undefined> =>
  selectLinks(db).where('share.tid', '=', tid).where('share.id', '=', id).executeTakeFirst();

/**
 * Returns the link for a viewId, or undefined. The table `link` maps the viewId to its tenant and share, so the query need not search the
 * shares of all tenants.
 */
export async function findLink(db: Tx, viewId: string): Promise<LinkRow | undefined> {
  const owner = await findViewIdOwner(db, viewId);
  const link = owner?.share_id ? await findLinkOfShare(db, owner.tid, owner.share_id) : undefined;
  return link?.view_id === viewId ? link : undefined;
}

export interface SignedInVisitor extends Identity {
  /** Id of the access user whom the visitor has signed in as; null: the visitor is no access user. */
  readonly userId: number | null;
  /** Key of the identity in the audit log (features/audit/identity-key.ts). */
  readonly identityKey: string;
}

/** The names, groups and user id by which the lists of a share can match a visitor. */
export type ListedVisitor = VisitorNames & Pick<SignedInVisitor, 'userId'>;

const listEntries = (db: Tx, list: 'share_user' | 'share_group', link: LinkRow) =>
  db.selectFrom(list).select('name').where('tid', '=', link.tid).where('share_id', '=', link.id);

/** Returns the entries of the share's lists that can match this visitor, so that long lists are not read completely. */
async function listedNames(db: Tx, link: LinkRow, visitor: ListedVisitor): Promise<ListedNames> {
  const keys = [...foldedNames(visitor.names)];
  const users = listEntries(db, 'share_user', link);
  const userEntries = listsUsersById(link.type_id) ? users.where('user_id', '=', visitor.userId ?? 0) : users.where('name_key', 'in', keys);
  const groups = [...foldedNames(visitor.groups)];
  return {
    userNames: (await userEntries.execute()).map(({ name }) => name),
    groupNames:
      groups.length === 0
        ? []
        : (await listEntries(db, 'share_group', link).where('name_key', 'in', groups).execute()).map(({ name }) => name),
  };
}

type ListedNames = Pick<ShareRules, 'userNames' | 'groupNames'>;

/** Returns the rules of a share that decide about one visitor. */
export async function shareRules(db: Tx, link: LinkRow, visitor: ListedVisitor | null): Promise<ShareRules> {
  const allowsAll = link.allow_all_users === 1;
  return shareRulesOfRow(link, allowsAll || visitor === null ? { userNames: [], groupNames: [] } : await listedNames(db, link, visitor));
}

export const ruleColumns = [
  'active',
  'valid_from',
  'valid_to',
  'can_view',
  'can_download',
  'can_download_folder',
  'can_upload',
  'can_create_folder',
  'can_rename',
  'can_delete',
  'copy_protect',
  'copy_protect_text',
  'water_mark_text',
  'digital_signature',
  'allow_all_users',
] as const satisfies readonly (keyof ShareTable)[];

/** Returns the rules of a share from its row. @param names entries of its lists that can match the visitor */
export function shareRulesOfRow(link: Pick<Selectable<ShareTable>, (typeof ruleColumns)[number]>, names: ListedNames): ShareRules {
  return {
    active: link.active === 1,
    validFrom: link.valid_from,
    validTo: link.valid_to,
    canView: link.can_view === 1,
    canDownload: link.can_download === 1,
    canDownloadFolder: link.can_download_folder === 1,
    canUpload: link.can_upload === 1,
    canCreateFolder: link.can_create_folder === 1,
    canRename: link.can_rename === 1,
    canDelete: link.can_delete === 1,
    copyProtect: link.copy_protect === 1,
    copyProtectText: link.copy_protect_text === 1,
    waterMarkText: link.water_mark_text,
    digitalSignature: link.digital_signature === 1,
    allowAllUsers: link.allow_all_users === 1,
    ...names,
  };
}

/** Returns the rules of a login profile that decide about a visitor. */
export const profileRules = (profile: {
  readonly type_id: number;
  readonly ip_bounds: string | null;
  readonly ip_range: string | null;
}): ProfileRules => ({
  requiresSignIn: requiresSignIn(profile.type_id),
  ipRanges: profile.ip_bounds ?? packRangeText(profile.ip_range ?? ''),
});
