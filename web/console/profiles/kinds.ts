import type { ProfileType } from '#core/records/login-profile.ts';

interface Kind {
  readonly name: string;
  readonly description: string;
}

const kindsByType: Record<ProfileType, Kind> = {
  PUBLIC: { name: 'No sign-in', description: 'Anyone with the link has access.' },
  PASSWORD: { name: 'One password', description: 'All visitors use the same password, and optionally a user name.' },
  USERS: { name: 'Users with passwords', description: 'Each access user signs in with their own user name and password.' },
  EMAIL_CODE: {
    name: 'Code by e-mail',
    description: 'Visitors enter their e-mail address, and sign in with a code that is mailed to them.',
  },
  OIDC: { name: 'OpenID Connect', description: 'Visitors sign in at your identity provider.' },
  SAML: { name: 'SAML', description: 'Visitors sign in at your identity provider.' },
  LDAP: { name: 'LDAP', description: 'Visitors sign in with the user name and password of your directory.' },
};

/** The label and description of each kind of sign-in, by its name in the API. */
export const signInKindLabels: Readonly<Record<string, Kind>> = kindsByType;
