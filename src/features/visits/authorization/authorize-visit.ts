import { type Denial, decide, type Permit, type VisitorAction } from '#core/authorization/decide.ts';
import type { ShareRules } from '#core/authorization/share-rules.ts';
import { type MessageName, Refusal } from '#core/messages.ts';
import { oncePerObject } from '#core/once-per-object.ts';
import { refusalDetails } from '#features/audit/refusal-details.ts';
import type { VisitEvent } from '#features/audit/visit-event.ts';
import { findLink, type LinkRow, profileRules, type SignedInVisitor, shareRules } from '#features/links/find-link.ts';
import { sha256 } from '#features/records/sha256.ts';
import {
  type AuthenticatedVisitor,
  authenticateVisitor,
  authenticateWithoutVerifying,
  type Credentials,
} from '#features/visits/sessions/authenticate-visitor.ts';
import type { Ports } from '#ports/ports.ts';
import type { VisitServices } from './visit-services.ts';

/** A cached link with its access rules. */
interface LinkWithRules {
  readonly link: LinkRow;
  /** The rules for a visitor who has not signed in. */
  readonly share: ShareRules;
}

const cachedLink = ({ store }: Pick<Ports, 'store'>, viewId: string): Promise<LinkWithRules | null> =>
  store.cachedUntilChange(`link ${viewId}`, async () => {
    const link = await findLink(store.read, viewId);
    return link ? { link, share: await shareRules(store.read, link, null) } : null;
  });

/** A request of a visitor for a link or a portal. */
export interface VisitorRequest {
  readonly viewId: string;
  readonly address: string;
  readonly requestId: string;
  readonly credentials: Credentials;
  /**
   * Must be called after the lookup of the viewId, so that it sees the unknown links that parallel requests have tried meanwhile.
   * @throws Refusal (429) if the network has tried too many unknown links, whether or not this one exists
   */
  readonly checkNetwork: () => void;
}

export type AuthorizationPorts = Pick<Ports, 'store' | 'clock'> &
  Pick<VisitServices, 'audit' | 'signInKinds' | 'renewals' | 'verifiedPasswords'>;

/** A visit that `decide()` has permitted. */
export interface AuthorizedVisit<A extends VisitorAction = VisitorAction> {
  readonly permit: Permit<A>;
  readonly link: LinkRow;
  readonly authenticated: AuthenticatedVisitor | null;
  readonly visitorRequest: VisitorRequest;
  /** Decides again, with the current link and sign-in. Returns null if the visit must end. @throws as `reauthenticate` */
  readonly decideAgain: () => Promise<Permit<A> | null>;
}

const denialMessages: Record<Denial, MessageName> = {
  unknown: 'linkUnknown',
  ended: 'linkEnded',
  address: 'addressRefused',
  signIn: 'signInNeeded',
  audience: 'notAdmitted',
  permission: 'permissionOff',
};

export const denialRefusal = (denial: Denial) => new Refusal(denialMessages[denial]);

interface RequestedAction<A extends VisitorAction = VisitorAction> {
  readonly action: A;
  readonly replaces?: boolean;
}

/** Returns a hash of a list of names, computed once for each list, because a session may have many groups with long names. */
const namesHash = oncePerObject((names: readonly string[]) => sha256(JSON.stringify(names)));

function rulesFor(
  { store }: Pick<Ports, 'store'>,
  { link, share }: LinkWithRules,
  signedIn: SignedInVisitor | null,
): Promise<ShareRules> | ShareRules {
  if (!signedIn) return share;
  const visitorKey = `${signedIn.userId} ${namesHash(signedIn.names)} ${namesHash(signedIn.groups)}`;
  return store.cachedUntilChange(`rules ${link.id} ${link.version} ${visitorKey}`, () => shareRules(store.read, link, signedIn));
}

async function decideFor<A extends VisitorAction>(
  ports: Pick<Ports, 'store' | 'clock'>,
  current: LinkWithRules,
  address: string,
  signedIn: SignedInVisitor | null,
  requestedAction: RequestedAction<A>,
) {
  const share = await rulesFor(ports, current, signedIn);
  const profile = profileRules(current.link);
  return decide({
    request: requestedAction.action,
    ...(requestedAction.replaces === undefined ? {} : { replaces: requestedAction.replaces }),
    share,
    profile,
    visitor: { address, identity: signedIn },
    now: ports.clock.now(),
  });
}

/**
 * Decides for the same visitor with the current link and sign-in. Returns null if the action is not permitted now, if the viewId no longer
 * belongs to the same share, or if the configuration of the location has changed: transfers that use the former storage must end.
 * @throws as `reauthenticate`
 */
async function decideAgain<A extends VisitorAction>(
  ports: AuthorizationPorts,
  visitorRequest: VisitorRequest,
  initialLink: LinkRow,
  authenticated: AuthenticatedVisitor | null,
  requestedAction: RequestedAction<A>,
): Promise<Permit<A> | null> {
  const current = await cachedLink(ports, visitorRequest.viewId);
  if (!current || current.link.id !== initialLink.id || current.link.configuration !== initialLink.configuration) return null;
  const signedIn = authenticated ? await authenticated.reauthenticate(current.link) : null;
  const decision = await decideFor(ports, current, visitorRequest.address, signedIn, requestedAction);
  return 'because' in decision ? null : decision;
}

/**
 * Reads the link and the visitor again after a password was verified, because both may have changed meanwhile.
 * @throws Refusal (404) if the link is gone
 */
async function reloadLinkAndVisitor(
  ports: AuthorizationPorts,
  { viewId }: VisitorRequest,
  initial: LinkWithRules,
  visitor: AuthenticatedVisitor,
) {
  const current = await cachedLink(ports, viewId);
  if (!current || current.link.id !== initial.link.id) throw denialRefusal('unknown');
  const signedIn = await visitor.reauthenticate(current.link);
  return { current, authenticated: signedIn && { ...visitor, signedIn } };
}

/**
 * Finds the link, authenticates the visitor, and decides whether the action is permitted. Visitors reach a link only through this function.
 * @throws Refusal (401, 403, 404, 410) for the first rule that is not met; as `checkNetwork` and `authenticateVisitor`. If the link exists,
 *   records each refusal in the audit log, except a refusal of `checkNetwork`
 */
export async function authorizeVisit<A extends VisitorAction>(
  ports: AuthorizationPorts,
  visitorRequest: VisitorRequest,
  requestedAction: RequestedAction<A>,
): Promise<AuthorizedVisit<A>> {
  const initial = await cachedLink(ports, visitorRequest.viewId);
  visitorRequest.checkNetwork();
  if (!initial) throw denialRefusal('unknown');
  // Refuses before a password is verified if the link has ended or does not admit this address.
  const pageDecision = await decideFor(ports, initial, visitorRequest.address, null, { action: 'page' });
  if ('because' in pageDecision) return refuse(ports, visitorRequest, initial.link, null, requestedAction, pageDecision.because);
  const visitor = await authenticateVisitor(ports, ports.verifiedPasswords, initial.link, visitorRequest).catch((cause: unknown) =>
    refuseSignIn(ports, { link: initial.link, visitorRequest }, cause),
  );
  const { current, authenticated } = visitor?.passwordVerified
    ? await reloadLinkAndVisitor(ports, visitorRequest, initial, visitor)
    : { current: initial, authenticated: visitor };
  const { link } = current;
  const decision = await decideFor(ports, current, visitorRequest.address, authenticated?.signedIn ?? null, requestedAction);
  if ('because' in decision) return refuse(ports, visitorRequest, link, authenticated, requestedAction, decision.because);
  return {
    permit: decision,
    link,
    authenticated,
    visitorRequest,
    decideAgain: () => decideAgain(ports, visitorRequest, link, authenticated, requestedAction),
  };
}

/** Records a refusal of the password or the session of a request in the audit log. Does not record other errors. @throws the cause */
export function refuseSignIn(
  { audit }: Pick<VisitServices, 'audit'>,
  event: Pick<VisitEvent, 'link' | 'tid' | 'visitorRequest'>,
  cause: unknown,
): never {
  if (cause instanceof Refusal)
    audit.recordInBackground({
      ...event,
      visitor: null,
      action: 'sign-in',
      outcome: 'refused',
      path: '',
      after: refusalDetails(cause),
    });
  throw cause;
}

function refuse(
  ports: Pick<VisitServices, 'audit'>,
  visitorRequest: VisitorRequest,
  link: LinkRow,
  authenticated: AuthenticatedVisitor | null,
  { action: request }: RequestedAction,
  denial: Denial,
): never {
  ports.audit.recordInBackground({
    link,
    visitor: authenticated?.signedIn ?? null,
    visitorRequest,
    action: request === 'signIn' ? 'sign-in' : request,
    outcome: 'refused',
    path: '',
    after: { because: denial },
  });
  throw denialRefusal(denial);
}

/**
 * Returns whether the visitor has signed in at this link and the link admits them.
 * @param verifies false: accepts a password only if it was verified a short time ago. The time of a new verification would show which
 *   links exist
 */
export async function hasSignedIn(ports: AuthorizationPorts, visitorRequest: VisitorRequest, verifies: boolean): Promise<boolean> {
  const current = await cachedLink(ports, visitorRequest.viewId);
  if (!current || 'because' in (await decideFor(ports, current, visitorRequest.address, null, { action: 'page' }))) return false;
  const authenticated = await (verifies ? authenticateVisitor : authenticateWithoutVerifying)(
    ports,
    ports.verifiedPasswords,
    current.link,
    visitorRequest,
  ).catch(() => null);
  const signedIn = authenticated?.signedIn;
  if (!signedIn) return false;
  return !('because' in (await decideFor(ports, current, visitorRequest.address, signedIn, { action: 'visit' })));
}
