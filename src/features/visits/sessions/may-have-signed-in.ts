import { viewIdKey } from '#core/link.ts';
import type { VisitorRequest, VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import type { Tx } from '#ports/store.ts';
import { sessionsOf } from './visit-session.ts';

/** Does a viewId lead to one of these login profiles, as that of a share or of a portal? */
async function leadsTo(db: Tx, viewId: string, at: 'share' | 'portal', profiles: readonly number[]): Promise<boolean> {
  const link = db.selectFrom('link').where('view_key', '=', viewIdKey(viewId));
  const found =
    at === 'portal'
      ? link.select('view_key').where('link.profile_id', 'in', profiles)
      : link
          .innerJoin('share', (join) => join.onRef('share.tid', '=', 'link.tid').onRef('share.id', '=', 'link.share_id'))
          .select('view_key')
          .where('share.profile_id', 'in', profiles);
  return (await found.limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Returns whether the visitor may have signed in at the link. The sessions and the password pair of the request are
 * looked up first. Without a match the link is never looked up, because the time of that look-up shows which links exist.
 * With a match it is one short query, whether or not the link exists.
 * @param tokens of all sessions that the request carries
 */
export async function mayHaveSignedIn(
  { store, clock, verifiedPasswords }: Pick<VisitPorts, 'store' | 'clock' | 'verifiedPasswords'>,
  { viewId, address, credentials: { basic }, tokens }: VisitorRequest & { readonly tokens: readonly string[] },
  at: 'share' | 'portal',
): Promise<boolean> {
  const ofPair = basic && verifiedPasswords.find(verifiedPasswords.keyOf(null, basic, address), clock.now());
  const sessions = await sessionsOf(store.read, tokens);
  const profiles = [...sessions.map(({ profile_id }) => profile_id), ...(ofPair ? [ofPair.profileId] : [])];
  return profiles.length > 0 && leadsTo(store.read, viewId, at, profiles);
}
