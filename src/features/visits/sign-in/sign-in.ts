import { portalUrl, shareUrl } from '#core/link.ts';
import { messages, Refusal } from '#core/messages.ts';
import type { PortalVisit, Visit } from '#core/records/visit.ts';
import { refusalDetails } from '#features/audit/refusal-details.ts';
import type { VisitEvent } from '#features/audit/visit-event.ts';
import type { SignedInVisitor } from '#features/links/find-link.ts';
import { type AuthorizationPorts, authorizeVisit, type VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import { accessPortal, type PortalPorts, portalResponse } from '#features/visits/authorization/portal.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import { type VisitResponsePorts, visitShare } from '#features/visits/authorization/visit-share.ts';
import { findSignInKind } from '#features/visits/sessions/find-sign-in-kind.ts';
import { beginSession, endSession } from '#features/visits/sessions/visit-session.ts';
import { signedInVisitor } from '#features/visits/sessions/visitor-identity.ts';
import type { Ports } from '#ports/ports.ts';
import type { ProfileRef } from '#ports/sign-in.ts';
import { withoutCredentials } from './sign-in-place.ts';
import { type SubmittedCredentials, verifyCredentials } from './verify-credentials.ts';

/** A new session. The HTTP layer sets its cookie before any further check. */
export interface NewSession {
  readonly profileId: number;
  readonly token: string;
}

/** What a visitor has entered, and the token of their browser. */
export type SignInRequest = Pick<SubmittedCredentials, 'body' | 'browser'>;

type SignInPorts = AuthorizationPorts & Pick<Ports, 'random'> & Pick<VisitServices, 'newSessions'>;

async function signIn(
  ports: SignInPorts,
  profile: ProfileRef,
  { body, browser }: SignInRequest,
  viewId: string,
  event: Omit<VisitEvent, 'outcome' | 'visitor'>,
): Promise<{ session: NewSession; signedIn: SignedInVisitor }> {
  try {
    const { address } = event.visitorRequest;
    const completedSignIn = await verifyCredentials(ports, profile, { body, browser, viewId, address });
    ports.newSessions.count(address, profile.profile_id);
    const token = await beginSession(ports, profile, completedSignIn, address);
    const signedIn = signedInVisitor(profile, completedSignIn);
    await ports.audit.record({ ...event, visitor: signedIn, outcome: 'done' });
    return { session: { profileId: profile.profile_id, token }, signedIn };
  } catch (cause) {
    // Omits the entered user name: it may be a password, and invented names would fill the audit log.
    if (cause instanceof Refusal && messages[cause.messageName].status !== 400)
      ports.audit.recordInBackground({ ...event, visitor: null, outcome: 'refused', after: refusalDetails(cause) });
    throw cause;
  }
}

const withSession = (visitorRequest: VisitorRequest, { profileId, token }: NewSession): VisitorRequest => ({
  ...visitorRequest,
  checkNetwork: () => {},
  credentials: { basic: null, session: (requestedId) => (requestedId === profileId ? token : null) },
});

/**
 * Signs a visitor in at a link.
 * @param setCookie called with the new session before the share's own rules are checked, because the session is also valid for
 *   the other shares of the profile
 * @throws Refusal as `authorizeVisit` and `verifyCredentials`; (503) if too many sessions begin
 */
export async function signInAtShare(
  ports: SignInPorts & VisitResponsePorts,
  visitorRequest: VisitorRequest,
  request: SignInRequest,
  setCookie: (session: NewSession) => Promise<void>,
): Promise<Visit> {
  const { link } = await authorizeVisit(ports, withoutCredentials(visitorRequest), { action: 'signIn' });
  const { session } = await signIn(ports, link, request, visitorRequest.viewId, { link, visitorRequest, action: 'sign-in', path: '' });
  await setCookie(session);
  return visitShare(ports, withSession(visitorRequest, session));
}

/** Signs a visitor in at a portal. */
export async function signInAtPortal(
  ports: SignInPorts & PortalPorts,
  visitorRequest: VisitorRequest,
  request: SignInRequest,
  setCookie: (session: NewSession) => Promise<void>,
): Promise<PortalVisit> {
  const portal = await accessPortal(ports, visitorRequest);
  const { profile } = portal;
  const { session, signedIn } = await signIn(ports, profile, request, visitorRequest.viewId, {
    link: null,
    tid: profile.tid,
    visitorRequest,
    action: 'sign-in',
    path: '',
  });
  await setCookie(session);
  return portalResponse(ports, portal, { signedIn, reauthenticate: async () => signedIn, passwordVerified: true });
}

export interface SignOutResult {
  /** The profile whose cookie must be deleted. */
  readonly profileId: number;
  /** Address at which the browser signs out at the provider, too; null: none. */
  readonly providerUrl: string | null;
}

/** Ends the session of the request. */
export async function signOut(
  ports: AuthorizationPorts & Pick<Ports, 'links'>,
  visitorRequest: VisitorRequest,
  at: 'share' | 'portal',
): Promise<SignOutResult> {
  const anonymousRequest = withoutCredentials(visitorRequest);
  const { link, profile } = at === 'share' ? await findShare(ports, anonymousRequest) : await findPortal(ports, anonymousRequest);
  const { profile_id: profileId, tid } = profile;
  const token = visitorRequest.credentials.session(profileId);
  if (token === null || !(await endSession(ports.store, token, visitorRequest.address))) return { profileId, providerUrl: null };
  ports.audit.recordInBackground({ link, tid, visitor: null, visitorRequest, action: 'sign-out', outcome: 'done', path: '' });
  const pageUrl = (at === 'share' ? shareUrl : portalUrl)(ports.links.publicUrl(), visitorRequest.viewId);
  const atProvider = findSignInKind(ports.signInKinds, profile)?.redirect?.signOut;
  // The visitor has signed out here, even if the provider does not respond.
  return { profileId, providerUrl: atProvider ? await atProvider.url(profile, pageUrl).catch(() => null) : null };
}

async function findShare(ports: AuthorizationPorts, visitorRequest: VisitorRequest) {
  const { link } = await authorizeVisit(ports, visitorRequest, { action: 'signOut' });
  return { link, profile: link };
}

async function findPortal(ports: Pick<Ports, 'store'>, visitorRequest: VisitorRequest) {
  const { profile } = await accessPortal(ports, visitorRequest);
  return { link: null, profile };
}
