import type { Ports } from '#ports/ports.ts';
import type { SignInKinds } from '#ports/sign-in.ts';
import { emailCodeKind } from './kinds/email-code/email-code-kind.ts';
import { ldapKind } from './kinds/ldap/ldap-kind.ts';
import { oidcKind } from './kinds/oidc/oidc-kind.ts';
import { passwordKind } from './kinds/password/password-kind.ts';
import { samlKind } from './kinds/saml/saml-kind.ts';
import { usersKind } from './kinds/users/users-kind.ts';

/** Returns the kinds of sign-in by the type of login profile. */
export const signInKinds = (
  ports: Pick<Ports, 'store' | 'vault' | 'clock' | 'random' | 'passwordHash' | 'mail' | 'openId' | 'saml' | 'directories'>,
): SignInKinds => ({
  PASSWORD: passwordKind(ports),
  USERS: usersKind(ports),
  EMAIL_CODE: emailCodeKind(ports),
  OIDC: oidcKind(ports),
  SAML: samlKind(ports),
  LDAP: ldapKind(ports),
});
