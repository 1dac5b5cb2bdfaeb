import { fieldRefusal, Refusal } from '#core/messages.ts';
import { checkNewPassword } from '#core/password-rules.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import type { PasswordChangeBody } from '#core/records/visit.ts';
import { recordHappening } from '#features/audit/audit-entry.ts';
import { happeningOf } from '#features/audit/event-entry.ts';
import type { LinkRow, SignedIn } from '#features/links/find-link.ts';
import { visitorAt } from '#features/turns/visitor-turns.ts';
import { type Approaching, enter, type VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import { reachPortal } from '#features/visits/authorization/portal.ts';
import { recognise } from '#features/visits/sessions/authenticate-visitor.ts';
import { signInByPassword } from '#features/visits/sessions/password-sign-in.ts';
import { beginSession } from '#features/visits/sessions/visit-session.ts';
import type { ProfileRef } from '#features/visits/sessions/visitor-identity.ts';
import type { NewSession } from './sign-in.ts';

/** An access user who has signed in, and whose password it is. */
interface OwnPassword {
  readonly profile: ProfileRef;
  readonly link: LinkRow | null;
  readonly signedIn: SignedIn;
}

async function ownPassword(ports: VisitPorts, approaching: Approaching, at: 'share' | 'portal'): Promise<OwnPassword> {
  const { link, profile, recognised } =
    at === 'share' ? await atShare(ports, approaching) : { link: null, ...(await atPortal(ports, approaching)) };
  if (!recognised) throw new Refusal('signInNeeded');
  if (profile.type_id !== profileTypes.USERS || recognised.signedIn.userId === null)
    throw new Refusal('permissionOff', 'Only users with a password of their own change it here.');
  return { profile, link, signedIn: recognised.signedIn };
}

async function atShare(ports: VisitPorts, approaching: Approaching) {
  const { link, recognised } = await enter(ports, approaching, { request: 'visit' });
  return { link, profile: link, recognised };
}

async function atPortal(ports: VisitPorts, approaching: Approaching) {
  const { profile } = await reachPortal(ports, approaching);
  return { profile, recognised: await recognise(ports, ports.rightPairs, profile, approaching) };
}

/** Verifies the password so far; counted like a sign-in. @throws 403, 429, 503 */
async function epochOf(ports: VisitPorts, { profile, signedIn }: OwnPassword, password: string, address: string): Promise<number> {
  try {
    const { userEpoch } = await signInByPassword(ports, profile, { username: signedIn.name, password }, address);
    return userEpoch ?? 0;
  } catch (cause) {
    if (cause instanceof Refusal && cause.says === 'signInWrong') throw new Refusal('currentPasswordWrong');
    throw cause;
  }
}

/**
 * Changes the password of the access user who has signed in. All their sessions end; this browser gets a new one.
 * @param setCookie called with the new session
 * @throws 400 for a password that may not be chosen; 401, 403, 429, 503
 */
export async function changeOwnPassword(
  ports: VisitPorts,
  approaching: Approaching,
  at: 'share' | 'portal',
  { currentPassword, password }: PasswordChangeBody,
  setCookie: (session: NewSession) => Promise<void>,
): Promise<void> {
  const own = await ownPassword(ports, approaching, at);
  const { profile, link, signedIn } = own;
  checkNewPassword({ password, confirmPassword: password, name: signedIn.name }, 'password');
  if (password === currentPassword) throw fieldRefusal('password', 'must be another one than the current password');
  const epoch = await epochOf(ports, own, currentPassword, approaching.address);
  const hash = await ports.passwordHash.hash(password, approaching);
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
      .where('session_epoch', '=', epoch) // another password was set meanwhile
      .execute();
    if (Number(updated?.numUpdatedRows) !== 1) throw new Refusal('currentPasswordWrong');
    const event = { link, tid: profile.tid, visitor: signedIn, approaching, action: 'change-password', outcome: 'done', path: '' } as const;
    await recordHappening(tx, happeningOf(event, ports, now));
  }, visitorAt(approaching.address));
  const session = { signedIn, userEpoch: epoch + 1, address: approaching.address };
  await setCookie({ profileId: profile.profile_id, token: await beginSession(ports, profile, session) });
}
