import { messages, Refusal } from '#core/messages.ts';
import { refusalDetails } from '#features/audit/refusal-details.ts';
import type { VisitEvent } from '#features/audit/visit-event.ts';
import { beginAttempt } from '#features/rate-limits/sign-in-attempt.ts';
import type { AuthorizationPorts, VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import { beginSession } from '#features/visits/sessions/visit-session.ts';
import { signedInVisitor } from '#features/visits/sessions/visitor-identity.ts';
import type { Ports } from '#ports/ports.ts';
import type { RedirectSignIn } from '#ports/sign-in.ts';
import type { NewSession } from './sign-in.ts';
import { findSignInPlace, type SignInPlace } from './sign-in-place.ts';
import { signInKindOf } from './verify-credentials.ts';

const purpose = 'sign-in at a provider';
/** Time in ms for a sign-in at a provider. */
export const providerSignInTime = 10 * 60_000;

type ProviderPorts = AuthorizationPorts &
  Pick<Ports, 'random' | 'links' | 'vault'> &
  Pick<VisitServices, 'newSessions' | 'providerRequests' | 'signInKinds'>;

/** State of a started sign-in, stored encrypted in a cookie until the browser returns. */
interface PendingSignIn {
  readonly profileId: number;
  /** Session epoch of the profile: what one provider has sent is not sent to another one. */
  readonly epoch: number;
  readonly at: 'share' | 'portal';
  readonly viewId: string;
  readonly state: string;
  /** What the kind of sign-in needs at the end. */
  readonly pending: string;
  /** ms since the epoch. */
  readonly until: number;
}

/** The start of a sign-in: where the browser goes, and what it keeps. */
export interface ProviderStart {
  readonly url: string;
  /** null: the provider is not available, and the browser goes back to the page. */
  readonly cookie: {
    /** Names the cookie, so that two sign-ins of one browser do not disturb each other. */
    readonly state: string;
    /** Its value. */
    readonly sealed: string;
  } | null;
}

/** The request with which a browser comes back from a provider. */
export interface ProviderReturn {
  readonly profileId: number;
  /** The query with which it comes back. */
  readonly query: URLSearchParams;
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
  /** Why it was refused; null: it was not. */
  readonly refusal: Refusal | null;
}

/** Returns the sign-in at a provider of a profile. @throws Refusal (400) if its visitors sign in in another way */
function redirectOf(ports: ProviderPorts, { profile }: SignInPlace): RedirectSignIn {
  const { redirect } = signInKindOf(ports, profile);
  if (!redirect) throw new Refusal('requestMalformed', 'This link uses another sign-in method.');
  return redirect;
}

/** Returns the address to which providers send browsers back. Each profile has its own, so that no provider can answer for another one. */
const redirectUrlOf = (publicUrl: string, profileId: number) => `${publicUrl}/sign-in/oidc/${profileId}`;

/**
 * Begins a sign-in at the provider of a link or a portal. Stores nothing.
 * @throws Refusal (400) if visitors sign in in another way; (403, 404, 410); (503) if the provider is not available
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
    const { url, state, pending } = await redirect.begin(place.profile, redirectUrlOf(ports.links.publicUrl(), profileId));
    const until = ports.clock.now() + providerSignInTime;
    const signIn: PendingSignIn = { profileId, epoch, at, viewId: visitorRequest.viewId, state, pending, until };
    return { url, cookie: { state, sealed: ports.vault.seal(purpose, JSON.stringify(signIn)) } };
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    recordRefusal(ports, eventOf(place, visitorRequest), cause);
    return { url: failureUrl(place.pageUrl, cause, visitorRequest.requestId), cookie: null };
  }
}

const eventOf = ({ link, profile }: SignInPlace, visitorRequest: VisitorRequest) =>
  ({ link, tid: profile.tid, visitorRequest, action: 'sign-in', path: '' }) as const;

/** Records a refused sign-in with the reason for the operator. */
function recordRefusal({ audit }: Pick<ProviderPorts, 'audit'>, event: Omit<VisitEvent, 'outcome' | 'visitor'>, refusal: Refusal): void {
  if (messages[refusal.messageName].status === 400) return;
  // With the reference, each refusal has an entry of its own. While a provider is away, one entry counts the sign-ins of a minute.
  const reference = refusal.messageName === 'providerRefused' ? { reference: event.visitorRequest.requestId } : {};
  audit.recordInBackground({ ...event, visitor: null, outcome: 'refused', after: { ...refusalDetails(refusal), ...reference } });
}

/** Returns the address of a page that says why a sign-in has failed. @param requestId by which the operator finds it in the audit log */
export const failureUrl = (pageUrl: string, { messageName }: Refusal, requestId: string) =>
  `${pageUrl}#sign-in=${messageName}.${requestId}`;

/** Returns the sign-in that the browser has begun. @throws Refusal (400) if it has begun none that fits */
function openPending({ vault, clock }: Pick<Ports, 'vault' | 'clock'>, { profileId, query, cookieOf }: ProviderReturn): PendingSignIn {
  const state = query.get('state') ?? '';
  const sealed = cookieOf(state);
  const unknown = () =>
    new Refusal('requestMalformed', 'This sign-in was begun in another browser, or too long ago. Open the link and sign in again.');
  if (sealed === null) throw unknown();
  let pending: PendingSignIn;
  try {
    pending = JSON.parse(vault.open(purpose, sealed));
  } catch {
    throw unknown(); // not sealed by this installation
  }
  if (pending.state !== state || pending.profileId !== profileId || Math.abs(pending.until - clock.now()) > providerSignInTime)
    throw unknown();
  if (pending.until < clock.now()) throw unknown();
  return pending;
}

async function complete(
  ports: ProviderPorts,
  place: SignInPlace,
  back: ProviderReturn,
  pending: PendingSignIn,
  event: Omit<VisitEvent, 'outcome' | 'visitor'>,
) {
  const { profile } = place;
  const returned = new URL(redirectUrlOf(ports.links.publicUrl(), pending.profileId));
  returned.search = back.query.toString(); // our own origin, whatever the request's Host was
  ports.newSessions.count(back.address, profile.profile_id);
  // Counts for the network alone: each sign-in at a provider is the only one with its state.
  const countAttempt = await beginAttempt(ports, profile, null, back.address);
  const completed = await countAttempt(() => redirectOf(ports, place).finish(profile, returned, pending.pending));
  const token = await beginSession(ports, profile, completed, back.address);
  await ports.audit.record({ ...event, visitor: signedInVisitor(profile, completed), outcome: 'done' });
  return { profileId: profile.profile_id, token };
}

/**
 * Completes a sign-in with which a browser comes back from a provider.
 * @throws Refusal (400) if the browser has begun no such sign-in; (403, 404, 410) if its link no longer allows one
 */
export async function completeProviderSignIn(
  ports: ProviderPorts,
  back: ProviderReturn,
  visitorRequest: Omit<VisitorRequest, 'viewId'>,
): Promise<ProviderOutcome> {
  const pending = openPending(ports, back);
  const { viewId, at } = pending;
  const request = { ...visitorRequest, viewId };
  const place = await findSignInPlace(ports, request, at);
  const { profile, pageUrl } = place;
  const event = eventOf(place, request);
  try {
    if (profile.profile_id !== pending.profileId || profile.session_epoch !== pending.epoch)
      throw new Refusal('requestMalformed', 'The sign-in of this link has changed. Open the link and sign in again.');
    return { pageUrl, session: await complete(ports, place, back, pending, event), refusal: null };
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    recordRefusal(ports, event, cause);
    return { pageUrl, session: null, refusal: cause };
  }
}
