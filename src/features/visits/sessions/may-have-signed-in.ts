import { viewIdKey } from '#core/link.ts';
import type { VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { findSessions } from './visit-session.ts';

/** Returns whether the share or portal of a viewId uses one of these login profiles. */
async function usesProfile(db: Tx, viewId: string, at: 'share' | 'portal', profiles: readonly number[]): Promise<boolean> {
  const link = db.selectFrom('link').where('view_key', '=', viewIdKey(viewId));
  const query =
    at === 'portal'
      ? link.select('view_key').where('link.profile_id', 'in', profiles)
      : link
          .innerJoin('share', (join) => join.onRef('share.tid', '=', 'link.tid').onRef('share.id', '=', 'link.share_id'))
          .select('view_key')
          .where('share.profile_id', 'in', profiles);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Returns whether the visitor may have signed in at the link or portal. First looks for sessions of the request, and for its password among
 * those that were verified a short time ago. If it finds none, it does not look up the link, because the time of that lookup would show
 * which links exist. If it finds one, it runs one short query, whether or not the link exists.
 * @param tokens of all sessions that the request carries
 */
export async function mayHaveSignedIn(
  { store, clock, verifiedPasswords }: Pick<Ports, 'store' | 'clock'> & Pick<VisitServices, 'verifiedPasswords'>,
  { viewId, address, credentials: { basic }, tokens }: VisitorRequest & { readonly tokens: readonly string[] },
  at: 'share' | 'portal',
): Promise<boolean> {
  const verifiedPair = basic && verifiedPasswords.find(verifiedPasswords.keyOf(null, basic, address), clock.now());
  const sessions = await findSessions(store.read, tokens);
  const profiles = [...sessions.map(({ profile_id }) => profile_id), ...(verifiedPair ? [verifiedPair.profileId] : [])];
  return profiles.length > 0 && usesProfile(store.read, viewId, at, profiles);
}
