import Type, { type Static, type TSchema } from 'typebox';
import { profileTypes } from './login-profile.ts';
import { patternText } from './patterned.ts';

const text = (description: string) => Type.String({ minLength: 1, maxLength: 4000, description });
const url = (scheme: string, description: string) => patternText(`^${scheme}://[^\\s/]+`, { maxLength: 4000, description });
const strict = { additionalProperties: false } as const;

const emailCode = Type.Object(
  {
    allow: Type.Optional(
      Type.Array(patternText('^(\\*|[^\\s@,*]+)@[^\\s@,*]+$'), {
        description: 'E-mail addresses, or `*@domain`, that get a code even if they do not belong to an access user.',
      }),
    ),
  },
  strict,
);
/** Configuration of an EMAIL_CODE profile. */
export type EmailCodeConfiguration = Static<typeof emailCode>;
const oidc = Type.Object(
  {
    issuer: url('https?', 'Address of the provider.'),
    clientId: text('Client id at the provider.'),
    clientSecret: text('Client secret at the provider.'),
    scopes: Type.Optional(text('Requested scopes, separated by spaces.')),
    groupsClaim: Type.Optional(text('Claim that lists the groups of a user.')),
  },
  strict,
);
const samlCommon = {
  groupsAttribute: Type.Optional(text('Attribute that lists the groups of a user.')),
  idpInitiated: Type.Optional(Type.Boolean({ description: 'Sign-in may start at the identity provider.' })),
};
const samlWithMetadata = Type.Object({ metadataUrl: url('https?', "Address of the provider's metadata."), ...samlCommon }, strict);
const samlWithoutMetadata = Type.Object(
  {
    entryPoint: url('https?', 'Sign-in URL of the identity provider.'),
    certificates: Type.Array(text('PEM certificate.'), { minItems: 1 }),
    ...samlCommon,
  },
  strict,
);
const ldap = Type.Object(
  {
    url: url('ldaps?', 'Address of the directory.'),
    startTls: Type.Optional(Type.Boolean({ description: 'Use StartTLS with an ldap:// URL.' })),
    baseDn: text('DN below which users are searched.'),
    bindDn: text('DN of the account that searches for users.'),
    bindPassword: text('Password of bindDn.'),
    userFilter: text('Filter that finds a user.'),
    groupFilter: Type.Optional(text('Filter that finds the groups of a user.')),
  },
  strict,
);

/** Returns the schema for the `configuration` of a login profile, or null if profiles of this type have none. */
export function configurationSchema(typeId: number, value: object): TSchema | null {
  if (typeId === profileTypes.EMAIL_CODE) return emailCode;
  if (typeId === profileTypes.OIDC) return oidc;
  if (typeId === profileTypes.SAML) return 'metadataUrl' in value ? samlWithMetadata : samlWithoutMetadata;
  return typeId === profileTypes.LDAP ? ldap : null;
}

/** Members of a configuration that hold secrets, for all types. */
export const secretKeys: readonly string[] = ['clientSecret', 'bindPassword'];
