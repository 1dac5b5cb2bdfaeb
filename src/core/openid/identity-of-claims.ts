import { groupsProblem } from '#core/group-limits.ts';
import { statedEmail } from '#core/mail/email.ts';
import type { OidcConfiguration } from '#core/records/profile-configuration.ts';
import { requiredGroupProblem } from '#core/required-group.ts';

/**
 * Returns the subject of a user. It contains the issuer, because `sub` is unique only within its
 * issuer.
 */
export const subjectOf = (issuer: string, sub: string): string => `${issuer} ${sub}`;

/** Claims of an ID token or of the userinfo endpoint, as the provider states them: any JSON. */
export type Claims = Readonly<Record<string, unknown>>;

/** What the claims say about a visitor or an operator. */
export interface ClaimedIdentity {
  readonly subject: string;
  readonly name: string;
  /**
   * Address that the provider has verified, or that `emailTrust` accepts without verification;
   * empty: none.
   */
  readonly email: string;
  readonly names: readonly string[];
  readonly groups: readonly string[];
}

/** The claims of a user are refused. The message is for the operator. */
export class ClaimsRefused extends Error {}

type ClaimNames = Pick<OidcConfiguration, 'groupsClaim' | 'usernameClaim' | 'emailTrust'>;

const maxSubject = 255; // characters (OpenID Connect Core, 2)
const maxText = 255;

/**
 * Returns the text of a claim, or '' if it is no text or too long: a truncated text could be the name
 * of somebody else.
 */
const textOf = (value: unknown): string => (typeof value === 'string' && value.length <= maxText ? value : '');

/** Returns the value at a path such as `realm_access.roles`. A claim with this complete name takes precedence. */
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
  const claimNames = claims['_claim_names'];
  return (typeof claimNames === 'object' && claimNames !== null && Object.hasOwn(claimNames, path)) || claims['hasgroups'] === true;
}

/** Returns whether the claims lack something that the configuration needs, so that the userinfo endpoint must be queried. */
export function needsUserinfo(claims: Claims, { groupsClaim, usernameClaim, emailTrust }: ClaimNames): boolean {
  if (claims['email'] === undefined || (claims['email_verified'] === undefined && emailTrust !== 'provider')) return true;
  return [groupsClaim, usernameClaim].some((path) => path !== undefined && claimAt(claims, path) === undefined);
}

/**
 * Returns only the claims that a configuration uses. They are enough to determine the identity
 * again.
 */
export function usedClaims(claims: Claims, { groupsClaim, usernameClaim }: ClaimNames): Claims {
  const paths = [groupsClaim, usernameClaim].filter((path) => path !== undefined);
  const standardNames = ['iss', 'sub', 'name', 'preferred_username', 'email', 'email_verified', '_claim_names', 'hasgroups'];
  const usedNames = new Set([...standardNames, ...paths, ...paths.map((path) => path.split('.', 1)[0])]);
  return Object.fromEntries(Object.entries(claims).filter(([name]) => usedNames.has(name)));
}

/** Returns the claim of the first source that has it. */
const firstClaim = (sources: readonly Claims[], path: string): unknown =>
  sources.map((source) => claimAt(source, path)).find((value) => value !== undefined);

function groupsOf(sources: readonly Claims[], path: string | undefined): readonly string[] {
  if (path === undefined) return [];
  const value = firstClaim(sources, path);
  if (value === undefined && sources.some((source) => hasOverage(source, path)))
    throw new ClaimsRefused(
      'The provider did not send the groups, because the user has too many. Let it send only the groups that are assigned to the application.',
    );
  const groups = (Array.isArray(value) ? value : [value]).map(textOf).filter((group) => group !== '');
  const problem = groupsProblem(groups);
  if (problem !== null) throw new ClaimsRefused(problem);
  return groups;
}

/**
 * Returns the address if the provider has verified it, or if `emailTrust` accepts it without
 * verification. The text "true" does not count as `true`. An address and its verification belong
 * together, so both come from one source: the first one with `email` and `email_verified`, or else
 * the first one with `email`.
 */
function verifiedEmail(sources: readonly Claims[], emailTrust: OidcConfiguration['emailTrust']): string {
  const withEmail = sources.filter((source) => source['email'] !== undefined);
  const { email, email_verified: verified } = withEmail.find((source) => source['email_verified'] !== undefined) ?? withEmail[0] ?? {};
  const isVerified = verified === true || (verified === undefined && emailTrust === 'provider');
  return typeof email === 'string' && isVerified ? statedEmail(email) : '';
}

/**
 * Returns the identity that the claims of a provider describe.
 * @param idToken claims of a verified ID token
 * @param sources claims about the same subject; an earlier source takes precedence
 * @throws ClaimsRefused
 */
export function identityOfClaims({ iss, sub }: Claims, sources: readonly Claims[], configuration: OidcConfiguration): ClaimedIdentity {
  if (typeof iss !== 'string' || typeof sub !== 'string' || sub === '' || sub.length > maxSubject)
    throw new ClaimsRefused('The provider did not send a valid subject.');
  const { groupsClaim, usernameClaim, emailTrust, requireGroup } = configuration;
  const groups = groupsOf(sources, groupsClaim);
  const groupProblem = requiredGroupProblem(groups, requireGroup);
  if (groupProblem !== null) throw new ClaimsRefused(groupProblem);
  const email = verifiedEmail(sources, emailTrust);
  const username = usernameClaim === undefined ? '' : textOf(firstClaim(sources, usernameClaim));
  return {
    subject: subjectOf(iss, sub),
    name: textOf(firstClaim(sources, 'name')) || textOf(firstClaim(sources, 'preferred_username')) || sub,
    email,
    names: [...new Set([sub, username, email].filter((name) => name !== ''))],
    groups,
  };
}
