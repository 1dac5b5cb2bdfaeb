import { emailKey } from '#core/mail/email.ts';
import { messages, Refusal } from '#core/messages.ts';
import { checkNewPassword, checkNotGuessable } from '#core/password-rules.ts';
import type { PasswordResetBody } from '#core/records/visit.ts';
import { appendAuditEntry } from '#features/audit/audit-entry.ts';
import { auditEntryOf } from '#features/audit/event-entry.ts';
import { refusalDetails } from '#features/audit/refusal-details.ts';
import { beginAttempt } from '#features/rate-limits/sign-in-attempt.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { AuthorizationPorts, VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import { beginSession } from '#features/visits/sessions/visit-session.ts';
import { signedInVisitor } from '#features/visits/sessions/visitor-identity.ts';
import type { Ports } from '#ports/ports.ts';
import type { CodeCredentials, CompletedSignIn, PasswordReset } from '#ports/sign-in.ts';
import type { NewSession } from './sign-in.ts';
import { findSignInPlace, type SignInPlace } from './sign-in-place.ts';
import { parseVisitorEmail, signInKindOf } from './verify-credentials.ts';

type ResetPorts = AuthorizationPorts &
  Pick<Ports, 'random' | 'links' | 'process' | 'passwordHash'> &
  Pick<VisitServices, 'newSessions' | 'signInKinds'>;

/** What a visitor enters to set a new password, and the token in the cookie of their browser. */
export interface ResetRequest {
  readonly body: PasswordResetBody;
  readonly browser: string | null;
}

const eventOf = ({ link, profile }: SignInPlace, visitorRequest: VisitorRequest) =>
  ({ link, tid: profile.tid, visitorRequest, action: 'change-password', path: '' }) as const;

interface NewPassword {
  readonly place: SignInPlace;
  readonly reset: PasswordReset;
  readonly credentials: CodeCredentials;
  readonly password: string;
}

/** Uses the code up, sets the password and writes the audit entry, in one transaction. @returns null if the code is wrong */
async function setPassword(
  ports: ResetPorts,
  visitorRequest: VisitorRequest,
  { place, reset, credentials, password }: NewPassword,
): Promise<CompletedSignIn | null> {
  if (!(await reset.hasCode(place.profile, credentials))) return null; // before the hash, which is slow: anybody can send this request
  const hash = await ports.passwordHash.hash(password, visitorRequest);
  const now = ports.clock.now();
  return ports.store.write(async (tx) => {
    const completed = await reset.redeem(tx, place.profile, credentials, hash, now);
    if (!completed) return null;
    const { name } = completed.identity;
    checkNewPassword({ password, confirmPassword: password, name }, 'password');
    const visitor = signedInVisitor(place.profile, completed);
    const event = { ...eventOf(place, visitorRequest), visitor, outcome: 'done', after: { by: 'code' } } as const;
    await appendAuditEntry(tx, auditEntryOf(event, ports, now));
    return completed;
  }, visitorTurn(visitorRequest.address));
}

/**
 * Sets a new password for a visitor who has forgotten the old one and has got a code by e-mail. Ends all their sessions, and begins a
 * new one for this browser. A new password that is not allowed does not use up the code.
 * @param setCookie called with the new session. Not called if no session can begin: the password is set nevertheless, and the
 *   visitor can sign in with it
 * @throws Refusal (400) if the new password is not allowed, the address is malformed, or the link does not offer a reset by code; (401) if
 *   the code is wrong; (403, 404, 410); (429) as `checkNetwork`, or during the delay after failed attempts; (503)
 */
export async function resetForgottenPassword(
  ports: ResetPorts,
  visitorRequest: VisitorRequest,
  at: 'share' | 'portal',
  { body, browser }: ResetRequest,
  setCookie: (session: NewSession) => Promise<void>,
): Promise<void> {
  const { code, password } = body;
  const email = parseVisitorEmail(body.email);
  checkNotGuessable(password, 'password');
  const place = await findSignInPlace(ports, visitorRequest, at);
  const { profile } = place;
  const reset = signInKindOf(ports, profile).password?.reset;
  if (!reset) throw new Refusal('requestMalformed', 'This link does not let visitors set a new password with a code.');
  const { viewId, address } = visitorRequest;
  const newPassword = { place, reset, credentials: { email, code, browser: browser ?? '', viewId, address }, password };
  const completed = await setPasswordAsAttempt(ports, visitorRequest, newPassword);
  const token = await beginSession(ports, profile, completed, address).catch((cause: unknown) => {
    if (cause instanceof Refusal) return null;
    throw cause;
  });
  if (token !== null) await setCookie({ profileId: profile.profile_id, token });
}

/** Sets the password, and counts a wrong code as a failed attempt. Records a refusal in the audit log, except one with status 400. */
async function setPasswordAsAttempt(ports: ResetPorts, visitorRequest: VisitorRequest, newPassword: NewPassword): Promise<CompletedSignIn> {
  const { place, credentials } = newPassword;
  const { profile } = place;
  const { address } = visitorRequest;
  try {
    ports.newSessions.count(address, profile.profile_id);
    const countAttempt = await beginAttempt(ports, profile, emailKey(credentials.email), address);
    return await countAttempt(() => setPassword(ports, visitorRequest, newPassword));
  } catch (cause) {
    if (cause instanceof Refusal && messages[cause.messageName].status !== 400) {
      const after = refusalDetails(cause);
      ports.audit.recordInBackground({ ...eventOf(place, visitorRequest), visitor: null, outcome: 'refused', after });
    }
    throw cause;
  }
}
