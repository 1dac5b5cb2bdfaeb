import { type SelectQueryBuilder, sql } from 'kysely';
import { decide } from '#core/authorization/decide.ts';
import type { ProfileRules } from '#core/authorization/share-rules.ts';
import { foldedNames } from '#core/fold.ts';
import { formatInstant } from '#core/instant.ts';
import { shareUrl } from '#core/link.ts';
import { listsUsersById } from '#core/records/login-profile.ts';
import type { PortalVisit } from '#core/records/visit.ts';
import { ruleColumns, type SignedInVisitor, shareRulesOfRow } from '#features/links/find-link.ts';
import type { Ports } from '#ports/ports.ts';
import type { ProfileRef } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

/** The page of a portal's shares; `startIndex` counts from 0. */
export interface PortalPageRequest {
  readonly startIndex: number;
  readonly pageSize: number;
}

interface PortalVisitor {
  readonly signedIn: SignedInVisitor;
  readonly address: string;
}

type Candidates = SelectQueryBuilder<Database, 'share', object>;

/** Selects the ids of the shares whose list of users contains the visitor. */
function sharesForUser(db: Tx, { tid, type_id }: ProfileRef, { userId, names }: SignedInVisitor) {
  const lists = db.selectFrom('share_user').select('share_id').where('share_user.tid', '=', tid);
  if (listsUsersById(type_id)) return lists.where('user_id', '=', userId ?? 0);
  return lists.where('user_id', 'is', null).where('name_key', 'in', [...foldedNames(names)]);
}

const sharesForGroups = (db: Tx, { tid }: ProfileRef, { groups }: SignedInVisitor) =>
  db
    .selectFrom('share_group')
    .select('share_id')
    .where('share_group.tid', '=', tid)
    .where('name_key', 'in', [...foldedNames(groups)]);

/** Returns a query for the shares of a profile that probably admit a visitor now. `decide()` then decides on each. */
function candidateQuery(db: Tx, profile: ProfileRef, visitor: SignedInVisitor, now: number): Candidates {
  return db
    .selectFrom('share')
    .where('share.tid', '=', profile.tid)
    .where('profile_id', '=', profile.profile_id)
    .where('active', '=', 1)
    .where((share) => share.or([share('valid_from', 'is', null), share('valid_from', '<=', now)]))
    .where((share) => share.or([share('valid_to', 'is', null), share('valid_to', '>', now)]))
    .where((share) =>
      share.or([
        share('allow_all_users', '=', 1),
        share('share.id', 'in', sharesForUser(db, profile, visitor)),
        ...(visitor.groups.length > 0 ? [share('share.id', 'in', sharesForGroups(db, profile, visitor))] : []),
      ]),
    );
}

async function countOf(candidates: Candidates): Promise<number> {
  return (await candidates.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count;
}

/** Reads a page of the shares that probably admit a visitor now, sorted by title, and their total number. */
async function readCandidates(
  { store }: Pick<Ports, 'store'>,
  ref: ProfileRef,
  signedIn: SignedInVisitor,
  { startIndex, pageSize }: PortalPageRequest,
  now: number,
) {
  const candidates = candidateQuery(store.search, ref, signedIn, now);
  const rowsOfPage = candidates.select([...ruleColumns, 'title', 'description', 'view_id', 'folder']);
  const rows = await rowsOfPage.orderBy('title').orderBy('share.id').limit(pageSize).offset(startIndex).execute();
  const isLastPage = rows.length < pageSize && (rows.length > 0 || startIndex === 0);
  return { rows, totalCount: isLastPage ? startIndex + rows.length : await countOf(candidates) };
}

/**
 * Reads a page of the shares of a profile that admit a visitor now, sorted by title. `totalCount` is the number of candidates, before
 * `decide()` has checked each of them.
 * @returns a function that builds the page; calling it takes time on the event loop
 */
export async function portalShares(
  { store, clock, links }: Pick<Ports, 'store' | 'clock' | 'links'>,
  { ref, rules }: { readonly ref: ProfileRef; readonly rules: ProfileRules },
  { signedIn, address }: PortalVisitor,
  page: PortalPageRequest,
): Promise<() => Pick<PortalVisit, 'shares' | 'totalCount'>> {
  const now = clock.now();
  const { rows, totalCount } = await readCandidates({ store }, ref, signedIn, page, now);
  // The query has checked that each share lists the visitor or is open to all, so the lists need not be read again.
  const namedVisitors = { userNames: signedIn.names, groupNames: signedIn.groups };
  const isAdmitting = (row: (typeof rows)[number]) => {
    const share = shareRulesOfRow(row, namedVisitors);
    return !('because' in decide({ request: 'visit', share, profile: rules, visitor: { address, identity: signedIn }, now }));
  };
  return () => ({
    totalCount,
    shares: rows.filter(isAdmitting).map(({ title, description, view_id, folder, valid_to }) => ({
      title,
      description,
      viewUrl: shareUrl(links.publicUrl(), view_id),
      folder: folder === 1,
      validityEndDate: valid_to === null ? null : formatInstant(valid_to),
    })),
  });
}
