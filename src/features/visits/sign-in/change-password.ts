import { fieldRefusal, Refusal } from '#core/messages.ts';
import { checkNewPassword } from '#core/password-rules.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import type { PasswordChangeBody } from '#core/records/visit.ts';
import { appendAuditEntry } from '#features/audit/audit-entry.ts';
import { auditEntryOf } from '#features/audit/event-entry.ts';
import type { LinkRow, SignedInVisitor } from '#features/links/find-link.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import { authorizeVisit, type VisitorRequest, type VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import { accessPortal } from '#features/visits/authorization/portal.ts';
import { authenticateVisitor } from '#features/visits/sessions/authenticate-visitor.ts';
import { signInByPassword } from '#features/visits/sessions/password-sign-in.ts';
import { beginSession } from '#features/visits/sessions/visit-session.ts';
import type { ProfileRef } from '#features/visits/sessions/visitor-identity.ts';
import type { NewSession } from './sign-in.ts';

/** An access user who has signed in and may change their password. */
interface PasswordOwner {
  readonly profile: ProfileRef;
  readonly link: LinkRow | null;
  readonly signedIn: SignedInVisitor;
}

async function findPasswordOwner(ports: VisitPorts, visitorRequest: VisitorRequest, at: 'share' | 'portal'): Promise<PasswordOwner> {
  const { link, profile, authenticated } =
    at === 'share'
      ? await authenticateAtShare(ports, visitorRequest)
      : { link: null, ...(await authenticateAtPortal(ports, visitorRequest)) };
  if (!authenticated) throw new Refusal('signInNeeded');
  if (profile.type_id !== profileTypes.USERS || authenticated.signedIn.userId === null)
    throw new Refusal('permissionOff', 'Only users with their own password can change it here.');
  return { profile, link, signedIn: authenticated.signedIn };
}

async function authenticateAtShare(ports: VisitPorts, visitorRequest: VisitorRequest) {
  const { link, authenticated } = await authorizeVisit(ports, visitorRequest, { action: 'visit' });
  return { link, profile: link, authenticated };
}

async function authenticateAtPortal(ports: VisitPorts, visitorRequest: VisitorRequest) {
  const { profile } = await accessPortal(ports, visitorRequest);
  return { profile, authenticated: await authenticateVisitor(ports, ports.verifiedPasswords, profile, visitorRequest) };
}

/**
 * Verifies the current password, which counts as a sign-in attempt.
 * @returns the session epoch of the user
 * @throws Refusal (403, 429, 503)
 */
async function verifyCurrentPassword(
  ports: VisitPorts,
  { profile, signedIn }: PasswordOwner,
  password: string,
  address: string,
): Promise<number> {
  try {
    const { userEpoch } = await signInByPassword(ports, profile, { username: signedIn.name, password }, address);
    return userEpoch ?? 0;
  } catch (cause) {
    if (cause instanceof Refusal && cause.messageName === 'signInWrong') throw new Refusal('currentPasswordWrong');
    throw cause;
  }
}

/**
 * Changes the password of the access user who has signed in. Ends all their sessions, and begins a new one for this browser.
 * @param setCookie called with the new session
 * @throws Refusal (400) if the new password is not allowed; (401, 403, 429, 503)
 */
export async function changeOwnPassword(
  ports: VisitPorts,
  visitorRequest: VisitorRequest,
  at: 'share' | 'portal',
  { currentPassword, password }: PasswordChangeBody,
  setCookie: (session: NewSession) => Promise<void>,
): Promise<void> {
  const owner = await findPasswordOwner(ports, visitorRequest, at);
  const { profile, link, signedIn } = owner;
  checkNewPassword({ password, confirmPassword: password, name: signedIn.name }, 'password');
  if (password === currentPassword) throw fieldRefusal('password', 'must differ from the current password');
  const epoch = await verifyCurrentPassword(ports, owner, currentPassword, visitorRequest.address);
  const hash = await ports.passwordHash.hash(password, visitorRequest);
  const now = ports.clock.now();
  await ports.store.write(async (tx) => {
    const [updated] = await tx
      .updateTable('access_user')
      .set((row) => ({
        password_hash: hash,
        session_epoch: epoch + 1,
        version: row('version', '+', 1),
        updated_owner: signedIn.name,
        updated_at: now,
      }))
      .where('tid', '=', profile.tid)
      .where('id', '=', signedIn.userId)
      .where('session_epoch', '=', epoch) // no match if another password was set meanwhile
      .execute();
    if (Number(updated?.numUpdatedRows) !== 1) throw new Refusal('currentPasswordWrong');
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
  }, visitorTurn(visitorRequest.address));
  const session = { signedIn, userEpoch: epoch + 1, address: visitorRequest.address };
  await setCookie({ profileId: profile.profile_id, token: await beginSession(ports, profile, session) });
}
