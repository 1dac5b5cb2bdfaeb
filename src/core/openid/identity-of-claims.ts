import { fold } from '#core/fold.ts';
import { hasLookAlike, parseEmail } from '#core/mail/email.ts';
import type { OidcConfiguration } from '#core/records/profile-configuration.ts';

/** Returns the subject of a user: `sub` is unique at its issuer only. */
export const subjectOf = (issuer: string, sub: string): string => `${issuer} ${sub}`;

/** Claims of an ID token or of the userinfo endpoint, as the provider states them: any JSON. */
export type Claims = Readonly<Record<string, unknown>>;

/** What the claims say about a visitor. */
export interface ClaimedIdentity {
  readonly subject: string;
  readonly name: string;
  /** Verified address; empty: none. */
  readonly email: string;
  readonly names: readonly string[];
  readonly groups: readonly string[];
}

/** Why the claims admit nobody, in words for the operator. */
export class ClaimsRefused extends Error {}

const maxSubject = 255; // characters (OpenID Connect Core, 2)
const maxGroups = 1000;
const maxText = 255;

const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, maxText) : '');

/** Returns the value at a path such as `realm_access.roles`. A claim whose own name contains the dots comes first. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined),
      claims,
    );
}

/** Returns whether the provider has left the groups out because there are too many (Microsoft Entra ID). */
function hasOverage(claims: Claims, path: string): boolean {
  const elsewhere = claims['_claim_names'];
  return (typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, path)) || claims['hasgroups'] === true;
}

/** Returns whether the claims lack something that the configuration needs, so that the userinfo endpoint must be asked. */
export const needsUserinfo = (claims: Claims, { groupsClaim, usernameClaim }: OidcConfiguration): boolean =>
  claims['email'] === undefined || [groupsClaim, usernameClaim].some((path) => path !== undefined && claimAt(claims, path) === undefined);

function groupsOf(claims: Claims, path: string | undefined): readonly string[] {
  if (path === undefined) return [];
  const value = claimAt(claims, path);
  if (value === undefined && hasOverage(claims, path))
    throw new ClaimsRefused(
      'The provider did not send the groups, because the user has too many. Let it send only the groups that are assigned to the application.',
    );
  const groups = (Array.isArray(value) ? value : [value]).filter((group) => typeof group === 'string' && group !== '');
  if (groups.length > maxGroups) throw new ClaimsRefused(`The user has more than ${maxGroups} groups.`);
  return groups;
}

/** Returns the address if the provider vouches for it. A text such as "true" is not `true`. */
function verifiedEmail(claims: Claims, emailTrust: OidcConfiguration['emailTrust']): string {
  const { email, email_verified: verified } = claims;
  const isVerified = verified === true || (verified === undefined && emailTrust === 'provider');
  if (typeof email !== 'string' || !isVerified || hasLookAlike(email)) return '';
  return parseEmail(email) ?? '';
}

/**
 * Returns the visitor that the claims of a verified ID token state.
 * @param userinfo claims of the userinfo endpoint for the same subject; those of the ID token come first
 * @throws ClaimsRefused
 */
export function identityOfClaims(idToken: Claims, userinfo: Claims, configuration: OidcConfiguration): ClaimedIdentity {
  const claims = { ...userinfo, ...idToken };
  const { iss, sub } = idToken;
  if (typeof iss !== 'string' || typeof sub !== 'string' || sub === '' || sub.length > maxSubject)
    throw new ClaimsRefused('The provider did not send a subject.');
  const { groupsClaim, usernameClaim, emailTrust, requireGroup } = configuration;
  const groups = groupsOf(claims, groupsClaim);
  if (requireGroup !== undefined && !groups.some((group) => fold(group) === fold(requireGroup)))
    throw new ClaimsRefused(`The user is not in the group ${requireGroup}.`);
  const email = verifiedEmail(claims, emailTrust);
  const username = usernameClaim === undefined ? '' : textOf(claimAt(claims, usernameClaim));
  return {
    subject: subjectOf(iss, sub),
    name: textOf(claims['name']) || textOf(claims['preferred_username']) || sub,
    email,
    names: [...new Set([sub, username, email].filter((name) => name !== ''))],
    groups,
  };
}
