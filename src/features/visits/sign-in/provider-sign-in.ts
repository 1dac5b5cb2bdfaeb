import { messages, Refusal } from '#core/messages.ts';
import { refusalDetails } from '#features/audit/refusal-details.ts';
import type { VisitEvent } from '#features/audit/visit-event.ts';
import { openPending, sealPending } from '#features/provider-sign-ins/pending-sign-in.ts';
import { redirectUrlOf } from '#features/provider-sign-ins/redirect-url.ts';
import { beginAttempt } from '#features/rate-limits/sign-in-attempt.ts';
import type { AuthorizationPorts, VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import { findSignInKind } from '#features/visits/sessions/find-sign-in-kind.ts';
import { beginSession } from '#features/visits/sessions/visit-session.ts';
import { signedInVisitor } from '#features/visits/sessions/visitor-identity.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, RedirectSignIn } from '#ports/sign-in.ts';
import { findProfileRef } from './find-profile-ref.ts';
import type { NewSession } from './sign-in.ts';
import { findSignInPlace, type SignInPlace } from './sign-in-place.ts';
import { signInKindOf } from './verify-credentials.ts';

const purpose = 'sign-in at a provider';

type ProviderPorts = AuthorizationPorts &
  Pick<Ports, 'random' | 'links' | 'vault'> &
  Pick<VisitServices, 'newSessions' | 'providerRequests' | 'signInKinds'>;

/** State of a started sign-in, stored encrypted in a cookie until the browser returns. */
interface PendingSignIn {
  readonly profileId: number;
  /**
   * Session epoch of the profile at the start. If it has changed since, the profile may use another
   * provider, and the sign-in is refused.
   */
  readonly epoch: number;
  readonly at: 'share' | 'portal';
  readonly viewId: string;
  readonly state: string;
  /** What the kind of sign-in needs to complete the sign-in. */
  readonly pending: string;
}

/** Where the browser goes to sign in, and the cookie that it keeps until it returns. */
export interface ProviderStart {
  readonly url: string;
  /** null: the sign-in was refused, and `url` is the page that shows why. */
  readonly cookie: {
    /** Names the cookie, so that two sign-ins of one browser do not disturb each other. */
    readonly state: string;
    readonly protocol: RedirectSignIn['protocol'];
    readonly value: string;
  } | null;
}

/** The request with which a browser comes back from a provider. */
export interface ProviderReturn {
  readonly profileId: number;
  /** Segment of the address to which it comes back. */
  readonly protocol: RedirectSignIn['protocol'];
  /** Identifies the sign-in. The provider sends it back unchanged. */
  readonly state: string;
  /** The query or the form with which it comes back. */
  readonly parameters: URLSearchParams;
  /** Returns the value of the cookie of a sign-in; null: the browser has none. */
  readonly cookieOf: (state: string) => string | null;
  readonly address: string;
  readonly requestId: string;
}

/** How a sign-in at a provider has ended. */
export interface ProviderOutcome {
  /** Address of the page to which the browser goes. */
  readonly pageUrl: string;
  /** null: the sign-in was refused. */
  readonly session: NewSession | null;
  /** Why the sign-in was refused; null: it was accepted. */
  readonly refusal: Refusal | null;
}

/** Returns how visitors of a profile sign in at its provider. @throws Refusal (400) if the profile has another sign-in method or none */
function redirectOf(ports: ProviderPorts, { profile }: SignInPlace): RedirectSignIn {
  const { redirect } = signInKindOf(ports, profile);
  if (!redirect) throw new Refusal('requestMalformed', 'This link uses another sign-in method.');
  return redirect;
}

/**
 * Begins a sign-in at the provider of a link or a portal. Stores no state on the server. If the sign-in is refused, for example
 * because the provider is not available, returns the address of the page that shows why.
 * @throws Refusal (400) if the profile has another sign-in method or none; (403, 404, 410, 429)
 */
export async function beginProviderSignIn(
  ports: ProviderPorts,
  visitorRequest: VisitorRequest,
  at: 'share' | 'portal',
): Promise<ProviderStart> {
  const place = await findSignInPlace(ports, visitorRequest, at);
  const { profile_id: profileId, session_epoch: epoch } = place.profile;
  const redirect = redirectOf(ports, place);
  try {
    ports.providerRequests.count(visitorRequest.address, profileId);
    const { url, state, pending } = await redirect.begin(
      place.profile,
      redirectUrlOf(ports.links.publicUrl(), redirect.protocol, profileId),
    );
    const signIn: PendingSignIn = { profileId, epoch, at, viewId: visitorRequest.viewId, state, pending };
    return { url, cookie: { state, protocol: redirect.protocol, value: sealPending(ports, purpose, signIn) } };
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    recordRefusal(ports, eventOf(place, visitorRequest), cause);
    return { url: failureUrl(place.pageUrl, cause, visitorRequest.requestId), cookie: null };
  }
}

const eventOf = ({ link, profile }: SignInPlace, visitorRequest: VisitorRequest) =>
  ({ link, tid: profile.tid, visitorRequest, action: 'sign-in', path: '' }) as const;

/** Records a refused sign-in, with the reason for the operator. Does not record a refusal with status 400. */
function recordRefusal({ audit }: Pick<ProviderPorts, 'audit'>, event: Omit<VisitEvent, 'outcome' | 'visitor'>, refusal: Refusal): void {
  if (messages[refusal.messageName].status === 400) return;
  // The reference gives each refusal by the provider a separate entry. Other equal refusals of one site at a link within a minute share an
  // entry, so that sign-ins while a provider is unavailable do not fill the audit log.
  const reference = refusal.messageName === 'providerRefused' ? { reference: event.visitorRequest.requestId } : {};
  audit.recordInBackground({ ...event, visitor: null, outcome: 'refused', after: { ...refusalDetails(refusal), ...reference } });
}

/** Returns the address of a page that says why a sign-in failed. @param requestId the audit entry contains it only for `providerRefused` */
export const failureUrl = (pageUrl: string, { messageName }: Refusal, requestId: string) =>
  `${pageUrl}#sign-in=${messageName}.${requestId}`;

/** A sign-in with which a browser comes back. */
type SignInToComplete = Pick<PendingSignIn, 'at' | 'viewId' | 'epoch'> & {
  /** null: it began at the provider. */
  readonly pending: string | null;
};

const unknownSignIn = () =>
  new Refusal('requestMalformed', 'This sign-in was started in another browser, or has expired. Open the link and sign in again.');

/** Returns the sign-in that the browser has begun, or null if none matches the return or it is too old. */
function pendingOf(ports: Pick<Ports, 'vault' | 'clock'>, { profileId, state, cookieOf }: ProviderReturn): PendingSignIn | null {
  const sealed = cookieOf(state);
  const pending = sealed === null ? null : openPending<PendingSignIn>(ports, purpose, sealed);
  return pending?.state === state && pending.profileId === profileId ? pending : null;
}

/**
 * Returns a sign-in that began at the provider. Such a sign-in leads to the portal.
 * @throws Refusal (400) if there is no such profile, or it allows no such sign-in; as `mayBeginAtProvider`
 */
async function beginAtProvider(ports: ProviderPorts, { profileId }: ProviderReturn): Promise<SignInToComplete> {
  const profile = await findProfileRef(ports.store.read, profileId);
  const mayBegin = profile && (await findSignInKind(ports.signInKinds, profile)?.redirect?.mayBeginAtProvider?.(profile));
  if (!mayBegin) throw unknownSignIn();
  return { at: 'portal', viewId: profile.view_id, epoch: profile.session_epoch, pending: null };
}

/** Characters of a stored session that counts as one. A larger session counts as several: the provider decides how large it is. */
const sizeOfSession = 4096;
const storedSize = ({ identity, renewal = '' }: CompletedSignIn) => JSON.stringify(identity).length + renewal.length;

async function complete(
  ports: ProviderPorts,
  place: SignInPlace,
  providerReturn: ProviderReturn,
  { pending }: SignInToComplete,
  event: Omit<VisitEvent, 'outcome' | 'visitor'>,
) {
  const { profile } = place;
  const { address, parameters, protocol, profileId } = providerReturn;
  const redirect = redirectOf(ports, place);
  if (redirect.protocol !== protocol) throw new Refusal('requestMalformed', 'This link uses another sign-in method.');
  const response = { redirectUrl: redirectUrlOf(ports.links.publicUrl(), protocol, profileId), parameters, address };
  ports.newSessions.count(address, profile.profile_id);
  // Counts for the network alone: the visitor has entered no name here.
  const countAttempt = await beginAttempt(ports, profile, null, address);
  const completedSignIn = await countAttempt(() => redirect.finish(profile, response, pending));
  ports.newSessions.count(address, profile.profile_id, Math.floor(storedSize(completedSignIn) / sizeOfSession));
  const token = await beginSession(ports, profile, completedSignIn, address);
  await ports.audit.record({ ...event, visitor: signedInVisitor(profile, completedSignIn), outcome: 'done' });
  return { profileId: profile.profile_id, token };
}

/**
 * Completes a sign-in when the browser returns from the provider.
 * @throws Refusal (400) if neither the browser nor a permitted provider began it; (403, 404, 410) if the link allows none; (429, 503)
 */
export async function completeProviderSignIn(
  ports: ProviderPorts,
  providerReturn: ProviderReturn,
  visitorRequest: Omit<VisitorRequest, 'viewId'>,
): Promise<ProviderOutcome> {
  const signIn: SignInToComplete = pendingOf(ports, providerReturn) ?? (await beginAtProvider(ports, providerReturn));
  const request = { ...visitorRequest, viewId: signIn.viewId };
  const place = await findSignInPlace(ports, request, signIn.at);
  const { profile, pageUrl } = place;
  const event = eventOf(place, request);
  try {
    if (profile.profile_id !== providerReturn.profileId || profile.session_epoch !== signIn.epoch)
      throw new Refusal('requestMalformed', 'The sign-in method of this link has changed. Open the link and sign in again.');
    return { pageUrl, session: await complete(ports, place, providerReturn, signIn, event), refusal: null };
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    recordRefusal(ports, event, cause);
    return { pageUrl, session: null, refusal: cause };
  }
}

/**
 * Verifies a provider's response that the browser sent without its cookies, and stores it for the
 * browser's next request, which has the cookies.
 * @returns a reference for the parameter `parked` of that request
 * @throws Refusal (400, 404, 503)
 */
export async function parkProviderResponse(
  ports: ProviderPorts,
  { profileId, protocol, parameters, address }: Pick<ProviderReturn, 'profileId' | 'protocol' | 'parameters' | 'address'>,
): Promise<string> {
  const profile = await findProfileRef(ports.store.read, profileId);
  const redirect = profile && findSignInKind(ports.signInKinds, profile)?.redirect;
  if (!profile || !redirect?.park) throw new Refusal('notFound');
  ports.providerRequests.count(address, profileId);
  return redirect.park(profile, { redirectUrl: redirectUrlOf(ports.links.publicUrl(), protocol, profileId), parameters, address });
}
