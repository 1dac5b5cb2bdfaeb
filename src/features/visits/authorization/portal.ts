import { networkOf } from '#core/policy/address-range.ts';
import { decidePortal } from '#core/policy/decide.ts';
import type { PortalVisit } from '#core/records/visit.ts';
import { earlierRanges, profileRules } from '#features/links/find-link.ts';
import { ownerOfViewId } from '#features/links/view-ids.ts';
import { type Recognised, recognise, recogniseKnown } from '#features/visits/sessions/authenticate-visitor.ts';
import type { Tx } from '#ports/store.ts';
import { type Approaching, denialRefusal, refuseSignIn, type VisitPorts } from './authorize-visit.ts';
import { type PortalPage, portalShares } from './portal-shares.ts';
import { signInPart, visitorPart } from './visit-share.ts';

/** Largest page of a portal, and the default; shares. */
export const largestPortalPage = 1000;
const firstPage: PortalPage = { startIndex: 0, pageSize: largestPortalPage };

/** Which shares of a portal are asked for. */
export interface PortalRequest {
  readonly page: PortalPage;
  /** Aborted when nobody waits for the answer any more. */
  readonly left: AbortSignal;
}

const profileById = (db: Tx, tid: number, id: number) =>
  db
    .selectFrom('login_profile')
    .select([
      'id as profile_id',
      'tid',
      'view_id',
      'type_id',
      'ip_bounds',
      earlierRanges('login_profile').as('ip_range'),
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
  approaching.checkNetwork();
  if (!profile) throw denialRefusal('unknown');
  const denial = decidePortal(profileRules(profile), { address: approaching.address, identity: null });
  if (denial) throw denialRefusal(denial.because);
  return { profile, approaching };
}

/** Has the visitor signed in at this very portal? @param verifies as in hasSignedIn */
export async function hasSignedInAtPortal(ports: VisitPorts, approaching: Approaching, verifies: boolean): Promise<boolean> {
  try {
    const { profile } = await reachPortal(ports, approaching);
    return (await (verifies ? recognise : recogniseKnown)(ports, ports.rightPairs, profile, approaching)) !== null;
  } catch {
    return false;
  }
}

/** What a portal answers; before sign-in nothing of its shares. */
export async function portalAnswer(
  ports: VisitPorts,
  { profile, approaching }: ReachedPortal,
  recognised: Recognised | null,
  { page, left }: PortalRequest = { page: firstPage, left: new AbortController().signal },
): Promise<PortalVisit> {
  const signedIn = recognised?.signedIn ?? null;
  const answer = { signIn: signInPart(profile, signedIn), visitor: visitorPart(signedIn) };
  if (!signedIn) return { ...answer, shares: [], totalCount: 0 };
  const visitor = { signedIn, address: approaching.address };
  const caller = `network ${networkOf(approaching.address, 32, 64)}`;
  const shares = await ports.searches.run({ tid: profile.tid, caller }, left, () =>
    portalShares(ports, { ref: profile, rules: profileRules(profile) }, visitor, page),
  );
  return { ...answer, ...shares };
}

/** The visit of a portal: a page of the shares that admit the visitor. */
export async function visitPortal(ports: VisitPorts, approaching: Approaching, request: PortalRequest): Promise<PortalVisit> {
  const reached = await reachPortal(ports, approaching);
  const recognised = await recognise(ports, ports.rightPairs, reached.profile, approaching).catch((cause: unknown) =>
    refuseSignIn(ports, { link: null, tid: reached.profile.tid, approaching }, cause),
  );
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
  return portalAnswer(ports, reached, recognised, request);
}
