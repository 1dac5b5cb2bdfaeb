import { findPortalDenial } from '#core/authorization/decide.ts';
import { maxPortalPageSize } from '#core/portal-page-size.ts';
import type { PortalVisit } from '#core/records/visit.ts';
import { profileRules, unpackedRanges } from '#features/links/find-link.ts';
import { findViewIdOwner } from '#features/links/view-ids.ts';
import { visitorGroups } from '#features/turns/search-turns.ts';
import {
  type AuthenticatedVisitor,
  authenticateVisitor,
  authenticateWithoutVerifying,
} from '#features/visits/sessions/authenticate-visitor.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { type AuthorizationPorts, denialRefusal, refuseSignIn, type VisitorRequest } from './authorize-visit.ts';
import { type PortalPageRequest, portalShares } from './portal-shares.ts';
import type { VisitServices } from './visit-services.ts';
import { signInPart, visitorPart } from './visit-share.ts';

const firstPage: PortalPageRequest = { startIndex: 0, pageSize: maxPortalPageSize };

export interface PortalRequest {
  readonly page: PortalPageRequest;
  /** Aborted when the client no longer waits for the response. */
  readonly clientGone: AbortSignal;
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
      'for_link as profile_for_link',
      'username as profile_username',
      'startup_message as profile_startup_message',
    ])
    .where('tid', '=', tid)
    .where('id', '=', id)
    .executeTakeFirst();

async function profileOfViewId({ store }: Pick<Ports, 'store'>, viewId: string) {
  const owner = await findViewIdOwner(store.read, viewId);
  const profile = owner?.profile_id ? await profileById(store.read, owner.tid, owner.profile_id) : undefined;
  return profile?.view_id === viewId ? profile : undefined;
}

/** A visitor's request for a portal, with the portal's login profile. */
export interface PortalAccess {
  readonly profile: NonNullable<Awaited<ReturnType<typeof profileOfViewId>>>;
  readonly visitorRequest: VisitorRequest;
}

/**
 * Finds the portal of a request, and checks the rules for its viewId and the address (docs/integrator/access-rules.md, "When access is
 * refused").
 * @throws Refusal (404) if the portal does not exist; (403) if the profile does not admit the address; (429) as `checkNetwork`
 */
export async function accessPortal(ports: Pick<Ports, 'store'>, visitorRequest: VisitorRequest): Promise<PortalAccess> {
  const profile = await profileOfViewId(ports, visitorRequest.viewId);
  visitorRequest.checkNetwork();
  if (!profile) throw denialRefusal('unknown');
  const denial = findPortalDenial(profileRules(profile), { address: visitorRequest.address, identity: null });
  if (denial) throw denialRefusal(denial.because);
  return { profile, visitorRequest };
}

/** Returns whether the visitor has signed in at this portal; false also if this cannot be found out. @param verifies as in `hasSignedIn` */
export async function hasSignedInAtPortal(ports: AuthorizationPorts, visitorRequest: VisitorRequest, verifies: boolean): Promise<boolean> {
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

export type PortalPorts = Pick<Ports, 'store' | 'clock' | 'links'> & Pick<VisitServices, 'searches' | 'portals' | 'signInKinds'>;

/** Returns the response of a portal. Before sign-in it contains no shares. */
export async function portalResponse(
  ports: PortalPorts,
  { profile, visitorRequest }: PortalAccess,
  authenticated: AuthenticatedVisitor | null,
  { page, clientGone }: PortalRequest = { page: firstPage, clientGone: new AbortController().signal },
): Promise<PortalVisit> {
  const signedIn = authenticated?.signedIn ?? null;
  const common = { signIn: signInPart(ports, profile, signedIn), visitor: visitorPart(signedIn) };
  if (!signedIn) return { ...common, shares: [], totalCount: 0 };
  const visitor = { signedIn, address: visitorRequest.address };
  const client = { tid: profile.tid, groups: visitorGroups(visitorRequest.address) };
  // The queries run in the turns of searches. Only the page is built in a turn of portals, one at a time: a slow query there would delay
  // all other portals.
  const shares = await ports.searches.run(client, clientGone, async () => {
    const formPage = await portalShares(ports, { ref: profile, rules: profileRules(profile) }, visitor, page);
    return ports.portals.run(client, clientGone, async () => formPage());
  });
  return { ...common, ...shares };
}

/** Returns the portal with a page of the shares that admit the visitor. Records the visit in the audit log if the visitor has signed in. */
export async function visitPortal(
  ports: AuthorizationPorts & PortalPorts,
  visitorRequest: VisitorRequest,
  request: PortalRequest,
): Promise<PortalVisit> {
  const portal = await accessPortal(ports, visitorRequest);
  const authenticated = await authenticateVisitor(ports, ports.verifiedPasswords, portal.profile, visitorRequest).catch((cause: unknown) =>
    refuseSignIn(ports, { link: null, tid: portal.profile.tid, visitorRequest }, cause),
  );
  const response = await portalResponse(ports, portal, authenticated, request);
  if (authenticated)
    ports.audit.recordInBackground({
      link: null,
      tid: portal.profile.tid,
      visitor: authenticated.signedIn,
      visitorRequest,
      action: 'visit',
      outcome: 'done',
      path: '',
    });
  return response;
}
