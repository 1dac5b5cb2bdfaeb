import { messages, Refusal } from '#core/messages.ts';
import type { VisitEvent } from '#features/audit/visit-event.ts';
import { beginAttempt } from '#features/rate-limits/sign-in-attempt.ts';
import type { AuthorizationPorts, VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import { endProviderSessions } from '#features/visits/sessions/end-provider-sessions.ts';
import { findSignInKind } from '#features/visits/sessions/find-sign-in-kind.ts';
import { beginSession } from '#features/visits/sessions/visit-session.ts';
import { signedInVisitor } from '#features/visits/sessions/visitor-identity.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, ProfileRef, RedirectSignIn } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';
import type { NewSession } from './sign-in.ts';
import { findSignInPlace, type SignInPlace } from './sign-in-place.ts';
import { signInKindOf } from './verify-credentials.ts';

const purpose = 'sign-in at a provider';
/** Time in ms for a sign-in at a provider. */
export const providerSignInTime = 10 * 60_000;

type ProviderPorts = AuthorizationPorts & Pick<Ports, 'random' | 'links' | 'vault'> & Pick<VisitServices, 'newSessions' | 'signInKinds'>;

/** The content of the encrypted cookie that the browser keeps until it comes back from the provider. */
interface PendingSignIn {
  readonly profileId: number;
  readonly at: 'share' | 'portal';
  readonly viewId: string;
  readonly state: string;
  /** What the kind of sign-in needs at the end. */
  readonly pending: string;
  /** ms since the epoch. */
  readonly until: number;
}

/** A sign-in that has begun: where the browser goes, and what it keeps. */
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

/** The browser comes back from a provider. */
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
  readonly state: string;
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
  const { profile_id: profileId } = place.profile;
  const redirect = redirectOf(ports, place);
  try {
    const begun = await redirect.begin(place.profile, redirectUrlOf(ports.links.publicUrl(), profileId));
    const until = ports.clock.now() + providerSignInTime;
    const pending: PendingSignIn = { profileId, at, viewId: visitorRequest.viewId, state: begun.state, pending: begun.pending, until };
    return { url: begun.url, cookie: { state: begun.state, sealed: ports.vault.seal(purpose, JSON.stringify(pending)) } };
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    recordRefusal(ports, eventOf(place, visitorRequest), cause);
    return { url: failureUrl(place.pageUrl, cause, visitorRequest.requestId), cookie: null };
  }
}

const eventOf = ({ link, profile }: SignInPlace, visitorRequest: VisitorRequest) =>
  ({ link, tid: profile.tid, visitorRequest, action: 'sign-in', path: '' }) as const;

/** Records a refused sign-in with the reason for the operator. */
function recordRefusal(
  { audit }: Pick<ProviderPorts, 'audit'>,
  event: Omit<VisitEvent, 'outcome' | 'visitor'>,
  { messageName, extras }: Refusal,
): void {
  if (messages[messageName].status === 400) return;
  const reason = extras.forOperator === undefined ? {} : { reason: extras.forOperator };
  // With the reference, each refusal has an entry of its own. While a provider is away, one entry counts the sign-ins of a minute.
  const reference = messageName === 'providerRefused' ? { reference: event.visitorRequest.requestId } : {};
  audit.recordInBackground({ ...event, visitor: null, outcome: 'refused', after: { because: messageName, ...reason, ...reference } });
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

/** Lets the kind check the response of the provider, and counts a refused one as a failed attempt of the network. */
async function finishCounted(
  ports: ProviderPorts,
  place: SignInPlace,
  { state, pending }: PendingSignIn,
  { address, returned }: { readonly address: string; readonly returned: URL },
): Promise<CompletedSignIn> {
  const countAttempt = await beginAttempt(ports, place.profile, state, address);
  const refusals: Refusal[] = [];
  const finish = () =>
    redirectOf(ports, place)
      .finish(place.profile, returned, pending)
      .catch((cause: unknown) => {
        if (!(cause instanceof Refusal) || cause.messageName !== 'providerRefused') throw cause;
        refusals.push(cause);
        return null;
      });
  return countAttempt(finish).catch((cause: unknown) => {
    throw refusals[0] ?? cause;
  });
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
  const completed = await finishCounted(ports, place, pending, { address: back.address, returned });
  ports.newSessions.count(back.address, profile.profile_id);
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
  const { viewId, at, state } = pending;
  const request = { ...visitorRequest, viewId };
  const place = await findSignInPlace(ports, request, at);
  const { profile, pageUrl } = place;
  const event = eventOf(place, request);
  try {
    if (profile.profile_id !== pending.profileId)
      throw new Refusal('requestMalformed', 'The link has another sign-in method now. Open it again.');
    return { pageUrl, state, session: await complete(ports, place, back, pending, event), refusal: null };
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    recordRefusal(ports, event, cause);
    return { pageUrl, state, session: null, refusal: cause };
  }
}

/**
 * Ends the sessions of a user who has signed out at the provider of a login profile.
 * @param logoutToken statement of the provider
 * @throws Refusal (400) if the statement is not valid; (404) if there is no such profile; (503)
 */
export async function endSessionsByProvider(ports: ProviderPorts, profileId: number, logoutToken: string): Promise<void> {
  const profile = await findProfileRef(ports.store.read, profileId);
  const redirect = profile && findSignInKind(ports.signInKinds, profile)?.redirect;
  if (!redirect) throw new Refusal('notFound');
  await endProviderSessions(ports, profile, await redirect.verifySignOut(profile, logoutToken));
}

async function findProfileRef(db: Tx, profileId: number): Promise<ProfileRef | null> {
  const row = await db
    .selectFrom('login_profile')
    .select(['tid', 'id as profile_id', 'type_id', 'session_epoch', 'username as profile_username'])
    .where('id', '=', profileId)
    .executeTakeFirst();
  return row ?? null;
}
