import { formatInstant } from '#core/instant.ts';
import { shareUrl } from '#core/link.ts';
import { decide, decidePortal } from '#core/policy/decide.ts';
import type { PortalVisit } from '#core/records/visit.ts';
import { linksOfProfile, profileRules, type SignedIn, shareRules } from '#features/link-facts.ts';
import { ownerOfViewId } from '#features/viewid-rows.ts';
import type { Tx } from '#ports/store.ts';
import { type Approaching, denialRefusal, type VisitPorts } from './enter.ts';
import { type Recognised, recognise } from './recognise.ts';
import { signInPart, visitorPart } from './visit-share.ts';

const profileById = (db: Tx, tid: number, id: number) =>
  db
    .selectFrom('login_profile')
    .select([
      'id as profile_id',
      'tid',
      'view_id',
      'type_id',
      'ip_range',
      'session_epoch',
      'lang',
      'title as profile_title',
      'username as profile_username',
      'startup_message as profile_startup_message',
    ])
    .where('tid', '=', tid)
    .where('id', '=', id)
    .executeTakeFirst();

async function profileOfViewId({ store }: VisitPorts, viewId: string) {
  const owner = await ownerOfViewId(store.read, viewId);
  const profile = owner?.profile_id ? await profileById(store.read, owner.tid, owner.profile_id) : undefined;
  return profile?.view_id === viewId ? profile : undefined;
}

/** A login profile whose portal a visitor has reached. */
export interface ReachedPortal {
  readonly profile: NonNullable<Awaited<ReturnType<typeof profileOfViewId>>>;
  readonly approaching: Approaching;
}

/** Rules 1 and 3 of visit.md, "Reaching a link". @throws 404, 403 */
export async function reachPortal(ports: VisitPorts, approaching: Approaching): Promise<ReachedPortal> {
  const profile = await profileOfViewId(ports, approaching.viewId);
  if (!profile) throw denialRefusal('unknown');
  const denial = decidePortal(profileRules(profile), { address: approaching.address, identity: null });
  if (denial) throw denialRefusal(denial.because);
  return { profile, approaching };
}

/** Every share of the profile that admits the visitor now, asked one by one of the decision itself. */
async function admittingShares(ports: VisitPorts, { profile, approaching }: ReachedPortal, signedIn: SignedIn) {
  const shares: PortalVisit['shares'] = [];
  for (const link of await linksOfProfile(ports.store.read, profile.tid, profile.profile_id)) {
    const share = await shareRules(ports.store.read, link, signedIn);
    const decision = decide({
      request: 'visit',
      share,
      profile: profileRules(link),
      visitor: { address: approaching.address, identity: signedIn },
      now: ports.clock.now(),
    });
    if ('because' in decision) continue;
    const { title, description } = link;
    shares.push({
      title,
      description,
      viewUrl: shareUrl(ports.links.publicUrl(), link.view_id),
      folder: link.folder === 1,
      validityEndDate: link.valid_to === null ? null : formatInstant(link.valid_to),
    });
  }
  return shares;
}

export async function portalAnswer(ports: VisitPorts, reached: ReachedPortal, recognised: Recognised | null): Promise<PortalVisit> {
  const signedIn = recognised?.signedIn ?? null;
  return {
    signIn: signInPart(reached.profile, signedIn),
    visitor: visitorPart(signedIn),
    shares: signedIn ? await admittingShares(ports, reached, signedIn) : [],
  };
}

/** The visit of a portal. */
export async function visitPortal(ports: VisitPorts, approaching: Approaching): Promise<PortalVisit> {
  const reached = await reachPortal(ports, approaching);
  const recognised = await recognise(ports, ports.rightPairs, reached.profile, approaching);
  if (recognised)
    ports.trail.note({
      link: null,
      tid: reached.profile.tid,
      visitor: recognised.signedIn,
      approaching,
      action: 'visit',
      outcome: 'done',
      path: '',
    });
  return portalAnswer(ports, reached, recognised);
}
