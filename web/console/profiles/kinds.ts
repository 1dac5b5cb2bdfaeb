import type { ProfileType } from '#core/records/login-profile.ts';

interface Kind {
  readonly name: string;
  readonly words: string;
}

const known: Record<ProfileType, Kind> = {
  PUBLIC: { name: 'No sign-in', words: 'Whoever has the link comes in.' },
  PASSWORD: { name: 'One password', words: 'Everybody knows the same password, and a user name if you like.' },
  USERS: { name: 'People with passwords', words: 'Each person signs in with a name and a password of their own.' },
  EMAIL_CODE: { name: 'Code by e-mail', words: 'A code that is good once is sent to an address that you admit.' },
  OIDC: { name: 'OpenID Connect', words: 'People sign in at your identity provider.' },
  SAML: { name: 'SAML', words: 'People sign in at your identity provider.' },
  LDAP: { name: 'LDAP', words: 'People sign in with their name and password of your directory.' },
};

/** The kinds of sign-in, in words, by the interface's names. */
export const kinds: Readonly<Record<string, Kind>> = known;
