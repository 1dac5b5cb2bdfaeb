import { shortestOpenViewId, viewIdBits, viewIdKey, viewIdPattern } from '#core/link.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { asksSignIn } from '#core/records/login-profile.ts';
import { preparedQuery, type QueryParameter } from '#features/records/prepared-query.ts';
import type { Random } from '#ports/random.ts';
import type { Tx } from '#ports/store.ts';

/** A new viewId: 128 random bits. */
export const newViewId = (random: Random) => random.token(viewIdBits);

/** @throws 400 where the text is no viewId */
export function checkViewId(viewId: string): void {
  if (!new RegExp(viewIdPattern).test(viewId)) throw fieldRefusal('viewId', 'must be 4 to 64 characters of A-Z, a-z, 0-9, _ and -');
}

/** @throws 409 where a link without sign-in would stand open under an address short enough to guess */
export function checkViewIdLength(viewId: string, typeId: number): void {
  if (asksSignIn(typeId) || viewId.length >= shortestOpenViewId) return;
  throw new Refusal(
    'viewIdTooShort',
    `A link without sign-in needs a view id of at least ${shortestOpenViewId} characters: share/updateSharableLink gives a longer one.`,
    {
      fieldErrors: [{ field: 'viewId', detail: `must be at least ${shortestOpenViewId} characters for a login profile without sign-in` }],
    },
  );
}

/** Whose an address is, or was. */
export const findViewIdOwner = (db: Tx, viewId: string) =>
  db.selectFrom('link').selectAll().where('view_key', '=', viewIdKey(viewId)).executeTakeFirst();

/** Makes an address a record's own. Once used it stays its tenant's, whatever becomes of the record. @throws 409 */
export async function claimViewId(
  tx: Tx,
  tid: number,
  viewId: string,
  owner: { share_id: number } | { profile_id: number },
): Promise<void> {
  const view_key = viewIdKey(viewId);
  const taken = () => new Refusal('viewIdTaken', undefined, { fieldErrors: [{ field: 'viewId', detail: 'is taken; choose another' }] });
  const known = await findViewIdOwner(tx, viewId);
  if (!known) {
    await tx
      .insertInto('link')
      .values({ view_key, tid, share_id: null, profile_id: null, ...owner })
      .execute();
    return;
  }
  const own = 'share_id' in owner ? known.share_id === owner.share_id : known.profile_id === owner.profile_id;
  const free = known.share_id === null && known.profile_id === null;
  if (known.tid !== tid || !(own || free)) throw taken();
  await tx.updateTable('link').set(owner).where('view_key', '=', view_key).execute();
}

const insertLink = preparedQuery(
  (db, p: QueryParameter<{ view_key: string; tid: number; share_id: number | null; profile_id: number | null }>) =>
    db.insertInto('link').values({ view_key: p('view_key'), tid: p('tid'), share_id: p('share_id'), profile_id: p('profile_id') }),
);

/** Makes an address a new record's own: 128 random bits are nobody else's. */
export async function claimNewViewId(
  tx: Tx,
  tid: number,
  viewId: string,
  owner: { share_id: number } | { profile_id: number },
): Promise<void> {
  await insertLink(tx, { view_key: viewIdKey(viewId), tid, share_id: null, profile_id: null, ...owner });
}

/** Stops an address: nobody is led by it from now on. */
export async function releaseViewId(tx: Tx, viewId: string): Promise<void> {
  await tx.updateTable('link').set({ share_id: null, profile_id: null }).where('view_key', '=', viewIdKey(viewId)).execute();
}
