import { fieldRefusal, Refusal } from '#core/messages.ts';
import { checkNewPassword } from '#core/password-rules.ts';
import type { PasswordChangeBody } from '#core/records/visit.ts';
import { appendAuditEntry } from '#features/audit/audit-entry.ts';
import { auditEntryOf } from '#features/audit/event-entry.ts';
import type { LinkRow, SignedInVisitor } from '#features/links/find-link.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import { type AuthorizationPorts, authorizeVisit, type VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import { accessPortal } from '#features/visits/authorization/portal.ts';
import { authenticateVisitor } from '#features/visits/sessions/authenticate-visitor.ts';
import { findSignInKind } from '#features/visits/sessions/find-sign-in-kind.ts';
import { signInByPassword } from '#features/visits/sessions/password-sign-in.ts';
import { beginSession } from '#features/visits/sessions/visit-session.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, PasswordSignIn, ProfileRef } from '#ports/sign-in.ts';
import type { NewSession } from './sign-in.ts';

type OwnPasswordSignIn = PasswordSignIn & Required<Pick<PasswordSignIn, 'replacePassword'>>;

const isOwnPasswordSignIn = (kind: PasswordSignIn | undefined): kind is OwnPasswordSignIn => kind?.replacePassword !== undefined;

/** A visitor who has signed in and may change their password. */
interface PasswordOwner {
  readonly profile: ProfileRef;
  readonly link: LinkRow | null;
  readonly signedIn: SignedInVisitor;
  readonly kind: OwnPasswordSignIn;
}

async function findPasswordOwner(
  ports: AuthorizationPorts,
  visitorRequest: VisitorRequest,
  at: 'share' | 'portal',
): Promise<PasswordOwner> {
  const { link, profile, authenticated } =
    at === 'share'
      ? await authenticateAtShare(ports, visitorRequest)
      : { link: null, ...(await authenticateAtPortal(ports, visitorRequest)) };
  if (!authenticated) throw new Refusal('signInNeeded');
  const kind = findSignInKind(ports.signInKinds, profile)?.password;
  if (!isOwnPasswordSignIn(kind)) throw new Refusal('permissionOff', 'Only users with their own password can change it here.');
  return { profile, link, signedIn: authenticated.signedIn, kind };
}

async function authenticateAtShare(ports: AuthorizationPorts, visitorRequest: VisitorRequest) {
  const { link, authenticated } = await authorizeVisit(ports, visitorRequest, { action: 'visit' });
  return { link, profile: link, authenticated };
}

async function authenticateAtPortal(ports: AuthorizationPorts, visitorRequest: VisitorRequest) {
  const { profile } = await accessPortal(ports, visitorRequest);
  return { profile, authenticated: await authenticateVisitor(ports, ports.verifiedPasswords, profile, visitorRequest) };
}

/**
 * Verifies the current password, which counts as a sign-in attempt.
 * @returns the sign-in with that password
 * @throws Refusal (403, 429, 503)
 */
async function verifyCurrentPassword(
  ports: Pick<Ports, 'store' | 'clock'>,
  { profile, signedIn, kind }: PasswordOwner,
  password: string,
  address: string,
): Promise<CompletedSignIn> {
  try {
    const current = await signInByPassword(ports, profile, kind, { username: signedIn.name, password }, address);
    if (current.identity.subject === signedIn.subject) return current;
  } catch (cause) {
    if (cause instanceof Refusal && cause.messageName === 'signInWrong') throw new Refusal('currentPasswordWrong');
    throw cause;
  }
  throw new Refusal('currentPasswordWrong'); // another visitor has the name by now
}

/**
 * Changes the password of the visitor who has signed in. Ends all their sessions, and begins a new one for this browser.
 * @param setCookie called with the new session
 * @throws Refusal (400) if the new password is not allowed; (401, 403, 404, 410, 429, 503)
 */
export async function changeOwnPassword(
  ports: AuthorizationPorts & Pick<Ports, 'random' | 'process' | 'passwordHash'>,
  visitorRequest: VisitorRequest,
  at: 'share' | 'portal',
  { currentPassword, password }: PasswordChangeBody,
  setCookie: (session: NewSession) => Promise<void>,
): Promise<void> {
  const owner = await findPasswordOwner(ports, visitorRequest, at);
  const { profile, link, signedIn, kind } = owner;
  checkNewPassword({ password, confirmPassword: password, name: signedIn.name }, 'password');
  if (password === currentPassword) throw fieldRefusal('password', 'must differ from the current password');
  const current = await verifyCurrentPassword(ports, owner, currentPassword, visitorRequest.address);
  const hash = await ports.passwordHash.hash(password, visitorRequest);
  const now = ports.clock.now();
  const newSignIn = await ports.store.write(async (tx) => {
    const signIn = await kind.replacePassword(tx, profile, current, hash, now);
    if (!signIn) throw new Refusal('currentPasswordWrong');
    const event = {
      link,
      tid: profile.tid,
      visitor: signedIn,
      visitorRequest,
      action: 'change-password',
      outcome: 'done',
      path: '',
    } as const;
    await appendAuditEntry(tx, auditEntryOf(event, ports, now));
    return signIn;
  }, visitorTurn(visitorRequest.address));
  const token = await beginSession(ports, profile, newSignIn, visitorRequest.address);
  await setCookie({ profileId: profile.profile_id, token });
}
