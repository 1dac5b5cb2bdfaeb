import type { ProfileType } from '#core/records/login-profile.ts';

interface Kind {
  readonly name: string;
  readonly description: string;
}

const kindsByType: Record<ProfileType, Kind> = {
  PUBLIC: { name: 'No sign-in', description: 'Whoever has the link comes in.' },
  PASSWORD: { name: 'One password', description: 'Everybody knows the same password, and a user name if you like.' },
  USERS: { name: 'People with passwords', description: 'Each person signs in with a name and a password of their own.' },
  EMAIL_CODE: { name: 'Code by e-mail', description: 'A code that is good once is sent to an address that you admit.' },
  OIDC: { name: 'OpenID Connect', description: 'People sign in at your identity provider.' },
  SAML: { name: 'SAML', description: 'People sign in at your identity provider.' },
  LDAP: { name: 'LDAP', description: 'People sign in with their name and password of your directory.' },
};

/** The kinds of sign-in, in words, by the interface's names. */
export const kinds: Readonly<Record<string, Kind>> = kindsByType;
