import Type, { type TSchema } from 'typebox';
import { profileTypes } from './login-profile.ts';
import { patterned } from './patterned.ts';

const text = (description: string) => Type.String({ minLength: 1, maxLength: 4000, description });
const url = (scheme: string, description: string) => patterned(`^${scheme}://[^\\s/]+`, { maxLength: 4000, description });
const closed = { additionalProperties: false } as const;

const emailCode = Type.Object(
  {
    allow: Type.Array(patterned('^(\\*|[^\\s@,*]+)@[^\\s@,*]+$'), {
      description: 'Addresses, or `*@domain`, that may ask for a code.',
    }),
  },
  closed,
);
const oidc = Type.Object(
  {
    issuer: url('https?', 'Address of the provider.'),
    clientId: text('Client id at the provider.'),
    clientSecret: text('Client secret at the provider.'),
    scopes: Type.Optional(text('Scopes asked for, separated by spaces.')),
    groupsClaim: Type.Optional(text('Claim that lists the groups of a user.')),
  },
  closed,
);
const samlCommon = {
  groupsAttribute: Type.Optional(text('Attribute that lists the groups of a user.')),
  idpInitiated: Type.Optional(Type.Boolean({ description: 'Sign-in may begin at the provider.' })),
};
const samlByMetadata = Type.Object({ metadataUrl: url('https?', "Address of the provider's metadata."), ...samlCommon }, closed);
const samlByHand = Type.Object(
  {
    entryPoint: url('https?', 'Address of sign-in at the provider.'),
    certificates: Type.Array(text('PEM certificate.'), { minItems: 1 }),
    ...samlCommon,
  },
  closed,
);
const ldap = Type.Object(
  {
    url: url('ldaps?', 'Address of the directory.'),
    startTls: Type.Optional(Type.Boolean({ description: 'Ask for TLS on an ldap:// address.' })),
    baseDn: text('Where users are looked for.'),
    bindDn: text('Who looks for them.'),
    bindPassword: text('Password of bindDn.'),
    userFilter: text('Filter that finds a user.'),
    groupFilter: Type.Optional(text('Filter that finds the groups of a user.')),
  },
  closed,
);

/** What `configuration` of a login profile holds, by type; the types that are not listed take none. */
export function configurationSchema(typeId: number, value: object): TSchema | null {
  if (typeId === profileTypes.EMAIL_CODE) return emailCode;
  if (typeId === profileTypes.OIDC) return oidc;
  if (typeId === profileTypes.SAML) return 'metadataUrl' in value ? samlByMetadata : samlByHand;
  return typeId === profileTypes.LDAP ? ldap : null;
}

/** Keys whose value is a secret, whatever the type. */
export const secretKeys: readonly string[] = ['clientSecret', 'bindPassword'];
