import { type MessageName, Refusal } from '#core/messages.ts';
import { type Action, type Denial, decide, type EntryRequest, type Permit } from '#core/policy/decide.ts';
import type { ShareRules } from '#core/policy/share-rules.ts';
import type { VisitAudit, VisitEvent } from '#features/audit/visit-audit.ts';
import { findLink, type LinkRow, profileRules, type SignedInVisitor, shareRules } from '#features/links/find-link.ts';
import type { NewSessions } from '#features/rate-limits/new-sessions.ts';
import type { SearchTurns } from '#features/turns/search-turns.ts';
import type { ArchivePlans } from '#features/visits/archives/archive-plans.ts';
import type { ChangeTurns } from '#features/visits/files/change-turns.ts';
import type { WriteListing } from '#features/visits/files/listing-json.ts';
import type { ListingTurns } from '#features/visits/files/listing-turns.ts';
import {
  type AuthenticatedVisitor,
  authenticateVisitor,
  authenticateWithoutVerifying,
  type Credentials,
  type VerifiedPasswords,
} from '#features/visits/sessions/authenticate-visitor.ts';
import type { UploadSlots } from '#features/visits/transfers/upload-slots.ts';
import type { Ports } from '#ports/ports.ts';

/** A link as it is until something changes, with what it rules. */
interface LinkWithRules {
  readonly link: LinkRow;
  /** For a visitor who has not signed in. */
  readonly share: ShareRules;
}

const cachedLink = ({ store }: Ports, viewId: string): Promise<LinkWithRules | null> =>
  store.cachedUntilChange(`link ${viewId}`, async () => {
    const link = await findLink(store.read, viewId);
    return link ? { link, share: await shareRules(store.read, link, null) } : null;
  });

/** One request at a link, as the edge hands it on. */
export interface VisitorRequest {
  readonly viewId: string;
  readonly address: string;
  readonly requestId: string;
  readonly credentials: Credentials;
  /**
   * To be called once it is known whether the link exists: what others of its network have tried meanwhile counts too,
   * such as many requests sent at once. @throws 429 where the network has tried too many links, whether or not this one exists
   */
  readonly checkNetwork: () => void;
}

/** What every visit needs. */
export interface VisitPorts extends Ports {
  readonly audit: VisitAudit;
  readonly verifiedPasswords: VerifiedPasswords;
  /** Tokens of the changes of files that are under way in this process. */
  readonly underWay: Set<string>;
  readonly archives: ArchivePlans;
  readonly changes: ChangeTurns;
  readonly listings: ListingTurns;
  readonly writePage: WriteListing;
  readonly uploads: UploadSlots;
  readonly newSessions: NewSessions;
  readonly searches: SearchTurns;
}

/** Someone whom decide() let in, and to what. */
export interface AuthorizedVisit {
  readonly permit: Permit;
  readonly link: LinkRow;
  readonly authenticated: AuthenticatedVisitor | null;
  readonly visitorRequest: VisitorRequest;
  /** Decides the same again, by the link as it is by then; null: it is no longer permitted. */
  readonly decideAgain: () => Promise<Permit | null>;
}

const denialMessages: Record<Denial, MessageName> = {
  unknown: 'linkUnknown',
  ended: 'linkEnded',
  address: 'addressRefused',
  signIn: 'signInNeeded',
  audience: 'notAdmitted',
  permission: 'permissionOff',
};

/** A denial in the words of the catalogue. */
export const denialRefusal = (denial: Denial) => new Refusal(denialMessages[denial]);

interface RequestedAction {
  readonly action: Action | EntryRequest;
  readonly replaces?: boolean;
}

function rulesFor({ store }: Ports, { link, share }: LinkWithRules, signedIn: SignedInVisitor | null): Promise<ShareRules> | ShareRules {
  if (!signedIn) return share;
  const who = JSON.stringify([signedIn.userId, signedIn.names, signedIn.groups]);
  return store.cachedUntilChange(`rules ${link.id} ${link.version} ${who}`, () => shareRules(store.read, link, signedIn));
}

async function ask(ports: Ports, known: LinkWithRules, address: string, signedIn: SignedInVisitor | null, asked: RequestedAction) {
  const share = await rulesFor(ports, known, signedIn);
  const profile = profileRules(known.link);
  return decide({
    request: asked.action,
    ...(asked.replaces === undefined ? {} : { replaces: asked.replaces }),
    share,
    profile,
    visitor: { address, identity: signedIn },
    now: ports.clock.now(),
  });
}

/** Decides for the same visitor by the link and the session as they are now. A location that was pointed elsewhere ends what is under way in its former folder. */
async function decideAgain(
  ports: VisitPorts,
  visitorRequest: VisitorRequest,
  before: LinkRow,
  authenticated: AuthenticatedVisitor | null,
  asked: RequestedAction,
): Promise<Permit | null> {
  const known = await cachedLink(ports, visitorRequest.viewId);
  if (!known || known.link.id !== before.id || known.link.configuration !== before.configuration) return null;
  const signedIn = authenticated ? await authenticated.reauthenticate(known.link) : null;
  const decision = await ask(ports, known, visitorRequest.address, signedIn, asked);
  return 'because' in decision ? null : decision;
}

/** Reads a link and who has signed in anew, after a password was verified: both may have been changed meanwhile. @throws 404 */
async function reloadLinkAndVisitor(ports: VisitPorts, { viewId }: VisitorRequest, reached: LinkWithRules, before: AuthenticatedVisitor) {
  const known = await cachedLink(ports, viewId);
  if (!known || known.link.id !== reached.link.id) throw denialRefusal('unknown');
  const signedIn = await before.reauthenticate(known.link);
  return { known, authenticated: signedIn && { ...before, signedIn } };
}

/**
 * Gathers, recognises, decides: the one way to a link.
 * @throws Refusal by the first rule that does not hold, noted in the audit trail
 */
export async function authorizeVisit(ports: VisitPorts, visitorRequest: VisitorRequest, asked: RequestedAction): Promise<AuthorizedVisit> {
  const reached = await cachedLink(ports, visitorRequest.viewId);
  visitorRequest.checkNetwork();
  if (!reached) throw denialRefusal('unknown');
  // Nobody's password is looked at where the link itself is closed to them.
  const outer = await ask(ports, reached, visitorRequest.address, null, { action: 'page' });
  if ('because' in outer) return refuse(ports, visitorRequest, reached.link, null, asked, outer.because);
  const before = await authenticateVisitor(ports, ports.verifiedPasswords, reached.link, visitorRequest).catch((cause: unknown) =>
    refuseSignIn(ports, { link: reached.link, visitorRequest }, cause),
  );
  const { known, authenticated } = before?.verified
    ? await reloadLinkAndVisitor(ports, visitorRequest, reached, before)
    : { known: reached, authenticated: before };
  const { link } = known;
  const decision = await ask(ports, known, visitorRequest.address, authenticated?.signedIn ?? null, asked);
  if ('because' in decision) return refuse(ports, visitorRequest, link, authenticated, asked, decision.because);
  return {
    permit: decision,
    link,
    authenticated,
    visitorRequest,
    decideAgain: () => decideAgain(ports, visitorRequest, link, authenticated, asked),
  };
}

/** Notes a pair of name and password that came with a request and was refused. @throws the cause */
export function refuseSignIn(
  { audit }: Pick<VisitPorts, 'audit'>,
  at: Pick<VisitEvent, 'link' | 'tid' | 'visitorRequest'>,
  cause: unknown,
): never {
  if (cause instanceof Refusal)
    audit.note({ ...at, visitor: null, action: 'sign-in', outcome: 'refused', path: '', after: { because: cause.messageName } });
  throw cause;
}

function refuse(
  ports: VisitPorts,
  visitorRequest: VisitorRequest,
  link: LinkRow,
  authenticated: AuthenticatedVisitor | null,
  { action: request }: RequestedAction,
  denial: Denial,
): never {
  ports.audit.note({
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
 * Has the visitor signed in at this very link, and does it admit them?
 * @param verifies false: a pair counts only if it was right a short while ago. How long a verification takes would tell
 *   which links exist
 */
export async function hasSignedIn(ports: VisitPorts, visitorRequest: VisitorRequest, verifies: boolean): Promise<boolean> {
  const known = await cachedLink(ports, visitorRequest.viewId);
  if (!known || 'because' in (await ask(ports, known, visitorRequest.address, null, { action: 'page' }))) return false;
  const authenticated = await (verifies ? authenticateVisitor : authenticateWithoutVerifying)(
    ports,
    ports.verifiedPasswords,
    known.link,
    visitorRequest,
  ).catch(() => null);
  const signedIn = authenticated?.signedIn;
  if (!signedIn) return false;
  return !('because' in (await ask(ports, known, visitorRequest.address, signedIn, { action: 'visit' })));
}
