import Type, { type Static, type TSchema } from 'typebox';
import { ldapProblem } from '#core/ldap/ldap-problem.ts';
import { issuerProblem } from '#core/openid/issuer.ts';
import { samlProblem } from '#core/saml/saml-problem.ts';
import { type LdapConfiguration, ldapConfiguration } from './ldap-configuration.ts';
import { type ProfileType, profileTypeName, profileTypes } from './login-profile.ts';
import { patternText } from './patterned.ts';
import { type SamlConfiguration, samlConfiguration } from './saml-configuration.ts';

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
    issuer: url('https?', 'Address of the provider: https, or http on this machine.'),
    clientId: text('Client ID at the provider.'),
    clientAuth: Type.Optional(
      Type.Enum(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'], {
        description:
          'How Postern authenticates at the provider. Default: client_secret_post if the provider lists it, else client_secret_basic.',
      }),
    ),
    clientSecret: Type.Optional(
      text('Client secret at the provider; for private_key_jwt a private key in PEM (PKCS #8), RSA of 2048 to 4096 bits or P-256.'),
    ),
    scopes: Type.Optional(text('Requested scopes, separated by spaces. Default: openid email profile.')),
    usernameClaim: Type.Optional(text('Claim with a name by which shares list a user. Choose one that users cannot change themselves.')),
    emailTrust: Type.Optional(
      Type.Enum(['verified', 'provider'], {
        description:
          'verified (default): shares list visitors by addresses that the provider has verified. provider: also by addresses for which the provider does not say whether they are verified.',
      }),
    ),
    groupsClaim: Type.Optional(text('Claim with the groups of a user, or the path to it, such as realm_access.roles.')),
    requireGroup: Type.Optional(text('Group that a user must be in to sign in.')),
    prompt: Type.Optional(
      Type.Enum(['login', 'select_account'], {
        description:
          'At each sign-in, the provider asks for the credentials (login), or lets the visitor choose an account (select_account).',
      }),
    ),
  },
  strict,
);
/** Configuration of an OIDC profile. */
export type OidcConfiguration = Static<typeof oidc>;
/** Returns the schema for the `configuration` of a login profile, or null if profiles of this type have none. */
export function configurationSchema(typeId: number): TSchema | null {
  if (typeId === profileTypes.EMAIL_CODE) return emailCode;
  if (typeId === profileTypes.OIDC) return oidc;
  if (typeId === profileTypes.SAML) return samlConfiguration;
  return typeId === profileTypes.LDAP ? ldapConfiguration : null;
}

/** Returns what is wrong with a configuration that its schema accepts, or null. */
export function configurationProblem(typeId: number, value: object): string | null {
  if (typeId === profileTypes.LDAP) return ldapProblem(value as LdapConfiguration); // the schema has accepted it
  if (typeId === profileTypes.SAML) return samlProblem(value as SamlConfiguration); // the schema has accepted it
  if (typeId !== profileTypes.OIDC) return null;
  const { issuer, clientAuth, clientSecret, scopes, requireGroup, groupsClaim } = value as OidcConfiguration; // the schema has accepted it
  const problem = issuerProblem(issuer);
  if (problem !== null) return `issuer ${problem}`;
  if (clientAuth !== 'none' && clientSecret === undefined) return 'clientSecret is required, unless clientAuth is "none"';
  if (scopes !== undefined && !scopes.split(' ').includes('openid'))
    return 'scopes must contain openid: without it, the provider sends no ID token';
  if (requireGroup !== undefined && groupsClaim === undefined) return 'groupsClaim is required with requireGroup';
  return null;
}

/**
 * Members of an OIDC or SAML configuration that decide who signs in as whom. A change of any other member, such as `certificates`,
 * ends no session: a provider with `metadataUrl` can change its certificates without ending sessions, too.
 */
const identifyingMembers: Readonly<Partial<Record<ProfileType, readonly string[]>>> = {
  OIDC: ['issuer', 'clientId', 'usernameClaim', 'emailTrust', 'groupsClaim', 'requireGroup'],
  SAML: ['metadataUrl', 'metadata', 'entityId', 'usernameAttribute', 'emailAttribute', 'emailTrust', 'groupsAttribute', 'requireGroup'],
};
/** Members of the configuration of an LDAP profile whose change ends no session. */
const nonIdentifyingLdapMembers = ['bindDn', 'bindPassword', 'ca', 'startTls', 'nameAttribute'];

/** Returns whether a change of a member ends the sessions of a profile. */
const decidesSignIn = (typeId: number, member: string) =>
  identifyingMembers[profileTypeName(typeId)]?.includes(member) ?? !nonIdentifyingLdapMembers.includes(member);

/**
 * Returns whether a change of the configuration ends the sessions of its profile. The allowed addresses of an EMAIL_CODE profile are
 * compared with each session at its next request, so that only the sessions whose address is no longer allowed end.
 */
export function changesSignIn(typeId: number, before: string, after: string): boolean {
  if (before === after || typeId === profileTypes.EMAIL_CODE) return false;
  if (before === '' || after === '') return true;
  const [old, current]: Record<string, unknown>[] = [JSON.parse(before), JSON.parse(after)];
  const members = new Set([...Object.keys(old ?? {}), ...Object.keys(current ?? {})]);
  return [...members].some((member) => decidesSignIn(typeId, member) && old?.[member] !== current?.[member]);
}

/** Members of a configuration that hold secrets, for all types. */
export const profileSecrets: readonly string[] = ['clientSecret', 'bindPassword'];
