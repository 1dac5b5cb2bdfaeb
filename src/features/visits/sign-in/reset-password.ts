import { emailKey } from '#core/mail/email.ts';
import { messages, Refusal } from '#core/messages.ts';
import { checkNewPassword, checkNotGuessable } from '#core/password-rules.ts';
import type { PasswordResetBody } from '#core/records/visit.ts';
import { appendAuditEntry } from '#features/audit/audit-entry.ts';
import { auditEntryOf } from '#features/audit/event-entry.ts';
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

/** Uses the code up, sets the password and writes the audit entry, in one transaction. @returns null: the code is wrong */
async function setPassword(
  ports: ResetPorts,
  visitorRequest: VisitorRequest,
  place: SignInPlace,
  reset: PasswordReset,
  credentials: CodeCredentials,
  password: string,
): Promise<CompletedSignIn | null> {
  if (!(await reset.hasCode(place.profile, credentials))) return null; // hashing is slow, and anybody can send this request
  const hash = await ports.passwordHash.hash(password, visitorRequest);
  const now = ports.clock.now();
  return ports.store.write(async (tx) => {
    const completed = await reset.complete(tx, place.profile, credentials, hash, now);
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
 * @param setCookie called with the new session
 * @throws Refusal (400) if the new password is not allowed, or the link sends no codes for a new one; (401) if the code is wrong; (403,
 *   404, 410); (429) during the wait after failed attempts; (503)
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
  const credentials = { email, code, browser: browser ?? '', viewId, address };
  try {
    const countAttempt = await beginAttempt(ports, profile, emailKey(email), address);
    const completed = await countAttempt(() => setPassword(ports, visitorRequest, place, reset, credentials, password));
    ports.newSessions.count(address, profile.profile_id);
    const token = await beginSession(ports, profile, completed, address);
    await setCookie({ profileId: profile.profile_id, token });
  } catch (cause) {
    if (cause instanceof Refusal && messages[cause.messageName].status !== 400) {
      const after = { because: cause.messageName };
      ports.audit.recordInBackground({ ...eventOf(place, visitorRequest), visitor: null, outcome: 'refused', after });
    }
    throw cause;
  }
}
