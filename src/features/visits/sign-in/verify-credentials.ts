import { emailKey, parseEmail } from '#core/mail/email.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import type { SignInBody } from '#core/records/visit.ts';
import { beginAttempt } from '#features/rate-limits/sign-in-attempt.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import { findSignInKind } from '#features/visits/sessions/find-sign-in-kind.ts';
import { signInByPassword } from '#features/visits/sessions/password-sign-in.ts';
import type { Ports } from '#ports/ports.ts';
import type { CodeSignIn, CompletedSignIn, PasswordSignIn, ProfileRef, SignInKind } from '#ports/sign-in.ts';

type CredentialPorts = Pick<Ports, 'store' | 'clock'> & Pick<VisitServices, 'signInKinds'>;

/** What a visitor sends to sign in, and the address that it comes from. */
export interface SubmittedCredentials {
  readonly body: SignInBody;
  /** Token in the cookie of the browser that has requested a code; null: none. */
  readonly browser: string | null;
  readonly viewId: string;
  /** Address of the client. */
  readonly address: string;
}

/** Returns the kind of sign-in of a profile. @throws Refusal (400) if the profile needs no sign-in */
export function signInKindOf({ signInKinds }: Pick<VisitServices, 'signInKinds'>, profile: ProfileRef): SignInKind {
  const kind = findSignInKind(signInKinds, profile);
  if (!kind) throw new Refusal('requestMalformed', 'This link needs no sign-in.');
  return kind;
}

/** Checks that the body has only the members of one kind of sign-in. @throws Refusal (400) for the first of the other members */
function refuseOthers(body: SignInBody, others: readonly (keyof SignInBody)[], howToSignIn: string): void {
  const other = others.find((field) => body[field] !== undefined);
  if (other) throw fieldRefusal(other, `must not be given: visitors sign in with ${howToSignIn} here`);
}

/** Returns a required member of the credentials. @throws Refusal (400) if it is missing */
function requireMember(body: SignInBody, field: keyof SignInBody): string {
  return body[field] || throwRefusal(fieldRefusal(field, 'is required'));
}

function throwRefusal(refusal: Refusal): never {
  throw refusal;
}

/** Returns the address that a visitor has entered. @throws Refusal (400) if it does not have the form of an e-mail address */
export const parseVisitorEmail = (email: string): string =>
  parseEmail(email.trim()) ?? throwRefusal(fieldRefusal('email', 'must be an e-mail address such as ann@example.com'));

function verifyPassword(ports: CredentialPorts, profile: ProfileRef, kind: PasswordSignIn, { body, address }: SubmittedCredentials) {
  refuseOthers(body, ['email', 'code'], 'a password');
  const password = requireMember(body, 'password');
  const username = kind.requiresUsername(profile) ? requireMember(body, 'username') : (body.username ?? '');
  return signInByPassword(ports, profile, kind, { username, password }, address);
}

/** Verifies a code and counts the attempt. */
async function verifyCode(
  ports: CredentialPorts,
  profile: ProfileRef,
  kind: CodeSignIn,
  submitted: SubmittedCredentials,
): Promise<CompletedSignIn> {
  const { body, browser, viewId, address } = submitted;
  refuseOthers(body, ['username', 'password'], 'a code');
  const credentials = {
    email: parseVisitorEmail(requireMember(body, 'email')),
    code: requireMember(body, 'code'),
    browser: browser ?? '',
    viewId,
    address,
  };
  const countAttempt = await beginAttempt(ports, profile, emailKey(credentials.email), address);
  return countAttempt(() => kind.verify(profile, credentials));
}

/**
 * Uses the profile's kind of sign-in to verify what a visitor has entered.
 * @throws Refusal (400) for a wrong or missing member, if visitors sign in at a provider or need no sign-in, or if a profile with a
 *   directory has changed meanwhile; (401) for wrong credentials; (403) for a directory user outside the required group; (429) during the
 *   delay after failed attempts; (503) if the sign-in is not available, or too many requests wait
 */
export async function verifyCredentials(
  ports: CredentialPorts,
  profile: ProfileRef,
  submitted: SubmittedCredentials,
): Promise<CompletedSignIn> {
  const { password, code, redirect } = signInKindOf(ports, profile);
  if (redirect)
    throw new Refusal(
      'requestMalformed',
      'Visitors of this link sign in at a provider. A GET request to sign-in/start sends the browser there.',
    );
  if (password) return verifyPassword(ports, profile, password, submitted);
  if (code) return verifyCode(ports, profile, code, submitted);
  throw new Refusal('signInUnavailable');
}
