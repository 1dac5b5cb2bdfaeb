import { networkOf } from '#core/policy/address-range.ts';
import { decidePortal } from '#core/policy/decide.ts';
import type { PortalVisit } from '#core/records/visit.ts';
import { profileRules, unpackedRanges } from '#features/links/find-link.ts';
import { findViewIdOwner } from '#features/links/view-ids.ts';
import {
  type AuthenticatedVisitor,
  authenticateVisitor,
  authenticateWithoutVerifying,
} from '#features/visits/sessions/authenticate-visitor.ts';
import type { Tx } from '#ports/store.ts';
import { denialRefusal, refuseSignIn, type VisitorRequest, type VisitPorts } from './authorize-visit.ts';
import { type PortalPageRequest, portalShares } from './portal-shares.ts';
import { signInPart, visitorPart } from './visit-share.ts';

/** Largest page of a portal, and the default; shares. */
export const largestPortalPage = 1000;
const firstPage: PortalPageRequest = { startIndex: 0, pageSize: largestPortalPage };

/** Which shares of a portal are asked for. */
export interface PortalRequest {
  readonly page: PortalPageRequest;
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
      unpackedRanges('login_profile').as('ip_range'),
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
  const owner = await findViewIdOwner(store.read, viewId);
  const profile = owner?.profile_id ? await profileById(store.read, owner.tid, owner.profile_id) : undefined;
  return profile?.view_id === viewId ? profile : undefined;
}

/** A login profile whose portal a visitor has reached. */
export interface PortalAccess {
  readonly profile: NonNullable<Awaited<ReturnType<typeof profileOfViewId>>>;
  readonly visitorRequest: VisitorRequest;
}

/** Rules 1 and 3 of visit.md, "Reaching a link". @throws 404, 403 */
export async function accessPortal(ports: VisitPorts, visitorRequest: VisitorRequest): Promise<PortalAccess> {
  const profile = await profileOfViewId(ports, visitorRequest.viewId);
  visitorRequest.checkNetwork();
  if (!profile) throw denialRefusal('unknown');
  const denial = decidePortal(profileRules(profile), { address: visitorRequest.address, identity: null });
  if (denial) throw denialRefusal(denial.because);
  return { profile, visitorRequest };
}

/** Has the visitor signed in at this very portal? @param verifies as in hasSignedIn */
export async function hasSignedInAtPortal(ports: VisitPorts, visitorRequest: VisitorRequest, verifies: boolean): Promise<boolean> {
  try {
    const { profile } = await accessPortal(ports, visitorRequest);
    return (
      (await (verifies ? authenticateVisitor : authenticateWithoutVerifying)(ports, ports.verifiedPasswords, profile, visitorRequest)) !==
      null
    );
  } catch {
    return false;
  }
}

/** What a portal answers; before sign-in nothing of its shares. */
export async function portalResponse(
  ports: VisitPorts,
  { profile, visitorRequest }: PortalAccess,
  authenticated: AuthenticatedVisitor | null,
  { page, left }: PortalRequest = { page: firstPage, left: new AbortController().signal },
): Promise<PortalVisit> {
  const signedIn = authenticated?.signedIn ?? null;
  const answer = { signIn: signInPart(profile, signedIn), visitor: visitorPart(signedIn) };
  if (!signedIn) return { ...answer, shares: [], totalCount: 0 };
  const visitor = { signedIn, address: visitorRequest.address };
  const caller = `network ${networkOf(visitorRequest.address, 32, 64)}`;
  const shares = await ports.searches.run({ tid: profile.tid, caller }, left, () =>
    portalShares(ports, { ref: profile, rules: profileRules(profile) }, visitor, page),
  );
  return { ...answer, ...shares };
}

/** The visit of a portal: a page of the shares that admit the visitor. */
export async function visitPortal(ports: VisitPorts, visitorRequest: VisitorRequest, request: PortalRequest): Promise<PortalVisit> {
  const reached = await accessPortal(ports, visitorRequest);
  const authenticated = await authenticateVisitor(ports, ports.verifiedPasswords, reached.profile, visitorRequest).catch((cause: unknown) =>
    refuseSignIn(ports, { link: null, tid: reached.profile.tid, visitorRequest }, cause),
  );
  if (authenticated)
    ports.audit.note({
      link: null,
      tid: reached.profile.tid,
      visitor: authenticated.signedIn,
      visitorRequest,
      action: 'visit',
      outcome: 'done',
      path: '',
    });
  return portalResponse(ports, reached, authenticated, request);
}
