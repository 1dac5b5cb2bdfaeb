import { minOpenViewIdLength, viewIdBits, viewIdKey, viewIdPattern } from '#core/link.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { requiresSignIn } from '#core/records/login-profile.ts';
import { preparedQuery, type QueryParameter } from '#features/records/prepared-query.ts';
import type { Random } from '#ports/random.ts';
import type { Tx } from '#ports/store.ts';

export const newViewId = (random: Random) => random.token(viewIdBits);

/** Checks the form of a viewId. @throws Refusal (400) */
export function checkViewId(viewId: string): void {
  if (!new RegExp(viewIdPattern).test(viewId)) throw fieldRefusal('viewId', 'must be 4 to 64 characters of A-Z, a-z, 0-9, _ and -');
}

/** Checks that the viewId of a link without sign-in is too long to guess. @throws Refusal (409) */
export function checkViewIdLength(viewId: string, typeId: number): void {
  if (requiresSignIn(typeId) || viewId.length >= minOpenViewIdLength) return;
  throw new Refusal(
    'viewIdTooShort',
    `A link without sign-in needs a viewId of at least ${minOpenViewIdLength} characters: share/updateSharableLink creates a longer one.`,
    {
      fieldErrors: [{ field: 'viewId', detail: `must be at least ${minOpenViewIdLength} characters for a login profile without sign-in` }],
    },
  );
}

/**
 * Returns the tenant for which a viewId is reserved, with the ids of the share or login profile that uses it now (null if none does).
 * Returns undefined for a viewId that was never used.
 */
export const findViewIdOwner = (db: Tx, viewId: string) =>
  db.selectFrom('link').selectAll().where('view_key', '=', viewIdKey(viewId)).executeTakeFirst();

/** Assigns a viewId to a record. A used viewId stays reserved for its tenant, even after the record is deleted. @throws Refusal (409) */
export async function claimViewId(
  tx: Tx,
  tid: number,
  viewId: string,
  owner: { share_id: number } | { profile_id: number },
): Promise<void> {
  const view_key = viewIdKey(viewId);
  const conflict = () => new Refusal('viewIdTaken', undefined, { fieldErrors: [{ field: 'viewId', detail: 'is taken; choose another' }] });
  const existing = await findViewIdOwner(tx, viewId);
  if (!existing) {
    await tx
      .insertInto('link')
      .values({ view_key, tid, share_id: null, profile_id: null, ...owner })
      .execute();
    return;
  }
  const isOwn = 'share_id' in owner ? existing.share_id === owner.share_id : existing.profile_id === owner.profile_id;
  const isFree = existing.share_id === null && existing.profile_id === null;
  if (existing.tid !== tid || !(isOwn || isFree)) throw conflict();
  await tx.updateTable('link').set(owner).where('view_key', '=', view_key).execute();
}

const insertLink = preparedQuery(
  (db, p: QueryParameter<{ view_key: string; tid: number; share_id: number | null; profile_id: number | null }>) =>
    db.insertInto('link').values({ view_key: p('view_key'), tid: p('tid'), share_id: p('share_id'), profile_id: p('profile_id') }),
);

/** Assigns a new viewId to a new record. No conflict check is needed: 128 random bits do not repeat in practice. */
export async function claimNewViewId(
  tx: Tx,
  tid: number,
  viewId: string,
  owner: { share_id: number } | { profile_id: number },
): Promise<void> {
  await insertLink(tx, { view_key: viewIdKey(viewId), tid, share_id: null, profile_id: null, ...owner });
}

/** Removes the record from a viewId, so that the link no longer works. */
export async function releaseViewId(tx: Tx, viewId: string): Promise<void> {
  await tx.updateTable('link').set({ share_id: null, profile_id: null }).where('view_key', '=', viewIdKey(viewId)).execute();
}
