import { type MessageName, Refusal } from '#core/messages.ts';
import { type Action, type Approach, type Denial, decide, type Permit } from '#core/policy/decide.ts';
import type { ShareRules } from '#core/policy/share-rules.ts';
import type { VisitEvent, VisitTrail } from '#features/audit/visit-audit.ts';
import { type LinkRow, linkOfViewId, profileRules, type SignedIn, shareRules } from '#features/links/find-link.ts';
import type { NewSessions } from '#features/rate-limits/new-sessions.ts';
import type { SearchTurns } from '#features/turns/search-turns.ts';
import type { ZipArchives } from '#features/visits/archives/archive-plans.ts';
import type { ChangeTurns } from '#features/visits/files/change-turns.ts';
import type { WritePage } from '#features/visits/files/listing-json.ts';
import type { ListingTurns } from '#features/visits/files/listing-turns.ts';
import {
  type Credentials,
  type Recognised,
  type RightPairs,
  recognise,
  recogniseKnown,
} from '#features/visits/sessions/authenticate-visitor.ts';
import type { UploadSlots } from '#features/visits/transfers/upload-slots.ts';
import type { Ports } from '#ports/ports.ts';

/** A link as it is until something changes, with what it rules. */
interface KnownLink {
  readonly link: LinkRow;
  /** For a visitor who has not signed in. */
  readonly share: ShareRules;
}

const knownLink = ({ store }: Ports, viewId: string): Promise<KnownLink | null> =>
  store.unchanged(`link ${viewId}`, async () => {
    const link = await linkOfViewId(store.read, viewId);
    return link ? { link, share: await shareRules(store.read, link, null) } : null;
  });

/** One request at a link, as the edge hands it on. */
export interface Approaching {
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
  readonly trail: VisitTrail;
  readonly rightPairs: RightPairs;
  /** Tokens of the changes of files that are under way in this process. */
  readonly underWay: Set<string>;
  readonly archives: ZipArchives;
  readonly changes: ChangeTurns;
  readonly listings: ListingTurns;
  readonly writePage: WritePage;
  readonly uploads: UploadSlots;
  readonly newSessions: NewSessions;
  readonly searches: SearchTurns;
}

/** Someone whom decide() let in, and to what. */
export interface Entered {
  readonly permit: Permit;
  readonly link: LinkRow;
  readonly recognised: Recognised | null;
  readonly approaching: Approaching;
  /** Decides the same again, by the link as it is by then; null: it is no longer permitted. */
  readonly decideAgain: () => Promise<Permit | null>;
}

const says: Record<Denial, MessageName> = {
  unknown: 'linkUnknown',
  ended: 'linkEnded',
  address: 'addressRefused',
  signIn: 'signInNeeded',
  audience: 'notAdmitted',
  permission: 'permissionOff',
};

/** A denial in the words of the catalogue. */
export const denialRefusal = (denial: Denial) => new Refusal(says[denial]);

interface Asked {
  readonly request: Action | Approach;
  readonly replaces?: boolean;
}

function rulesFor({ store }: Ports, { link, share }: KnownLink, signedIn: SignedIn | null): Promise<ShareRules> | ShareRules {
  if (!signedIn) return share;
  const who = JSON.stringify([signedIn.userId, signedIn.names, signedIn.groups]);
  return store.unchanged(`rules ${link.id} ${link.version} ${who}`, () => shareRules(store.read, link, signedIn));
}

async function ask(ports: Ports, known: KnownLink, address: string, signedIn: SignedIn | null, asked: Asked) {
  const share = await rulesFor(ports, known, signedIn);
  const profile = profileRules(known.link);
  return decide({ ...asked, share, profile, visitor: { address, identity: signedIn }, now: ports.clock.now() });
}

/** Decides for the same visitor by the link and the session as they are now. A location that was pointed elsewhere ends what is under way in its former folder. */
async function decideAgain(
  ports: VisitPorts,
  approaching: Approaching,
  before: LinkRow,
  recognised: Recognised | null,
  asked: Asked,
): Promise<Permit | null> {
  const known = await knownLink(ports, approaching.viewId);
  if (!known || known.link.id !== before.id || known.link.configuration !== before.configuration) return null;
  const signedIn = recognised ? await recognised.again(known.link) : null;
  const decision = await ask(ports, known, approaching.address, signedIn, asked);
  return 'because' in decision ? null : decision;
}

/** Reads a link and who has signed in anew, after a password was verified: both may have been changed meanwhile. @throws 404 */
async function asTheyAreNow(ports: VisitPorts, { viewId }: Approaching, reached: KnownLink, before: Recognised) {
  const known = await knownLink(ports, viewId);
  if (!known || known.link.id !== reached.link.id) throw denialRefusal('unknown');
  const signedIn = await before.again(known.link);
  return { known, recognised: signedIn && { ...before, signedIn } };
}

/**
 * Gathers, recognises, decides: the one way to a link.
 * @throws Refusal by the first rule that does not hold, noted in the audit trail
 */
export async function enter(ports: VisitPorts, approaching: Approaching, asked: Asked): Promise<Entered> {
  const reached = await knownLink(ports, approaching.viewId);
  approaching.checkNetwork();
  if (!reached) throw denialRefusal('unknown');
  // Nobody's password is looked at where the link itself is closed to them.
  const outer = await ask(ports, reached, approaching.address, null, { request: 'page' });
  if ('because' in outer) return refuse(ports, approaching, reached.link, null, asked, outer.because);
  const before = await recognise(ports, ports.rightPairs, reached.link, approaching).catch((cause: unknown) =>
    refuseSignIn(ports, { link: reached.link, approaching }, cause),
  );
  const { known, recognised } = before?.verified
    ? await asTheyAreNow(ports, approaching, reached, before)
    : { known: reached, recognised: before };
  const { link } = known;
  const decision = await ask(ports, known, approaching.address, recognised?.signedIn ?? null, asked);
  if ('because' in decision) return refuse(ports, approaching, link, recognised, asked, decision.because);
  return { permit: decision, link, recognised, approaching, decideAgain: () => decideAgain(ports, approaching, link, recognised, asked) };
}

/** Notes a pair of name and password that came with a request and was refused. @throws the cause */
export function refuseSignIn(
  { trail }: Pick<VisitPorts, 'trail'>,
  at: Pick<VisitEvent, 'link' | 'tid' | 'approaching'>,
  cause: unknown,
): never {
  if (cause instanceof Refusal)
    trail.note({ ...at, visitor: null, action: 'sign-in', outcome: 'refused', path: '', after: { because: cause.says } });
  throw cause;
}

function refuse(
  ports: VisitPorts,
  approaching: Approaching,
  link: LinkRow,
  recognised: Recognised | null,
  { request }: Asked,
  denial: Denial,
): never {
  ports.trail.note({
    link,
    visitor: recognised?.signedIn ?? null,
    approaching,
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
export async function hasSignedIn(ports: VisitPorts, approaching: Approaching, verifies: boolean): Promise<boolean> {
  const known = await knownLink(ports, approaching.viewId);
  if (!known || 'because' in (await ask(ports, known, approaching.address, null, { request: 'page' }))) return false;
  const recognised = await (verifies ? recognise : recogniseKnown)(ports, ports.rightPairs, known.link, approaching).catch(() => null);
  const signedIn = recognised?.signedIn;
  if (!signedIn) return false;
  return !('because' in (await ask(ports, known, approaching.address, signedIn, { request: 'visit' })));
}
