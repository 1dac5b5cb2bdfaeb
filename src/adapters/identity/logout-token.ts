import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { CustomFetch } from 'openid-client';
import type { SignOutStatement } from '#ports/openid.ts';
import { ProviderRefused } from '#ports/provider-errors.ts';

const event = 'http://schemas.openid.net/event/backchannel-logout';
const maxAge = 300; // seconds
const tolerance = 60; // seconds
const maxLength = 16_384; // characters

/** The issuer, the client, the keys and the signature algorithms that a token must match. */
interface ExpectedToken {
  readonly issuer: string;
  readonly clientId: string;
  /** Finds the provider's key that has signed the token. */
  readonly keys: JWTVerifyGetKey;
  readonly algorithms: readonly string[];
}

/**
 * Returns a function that finds a provider's keys. After the keys have been read, a token with an unknown key causes another read at most
 * every 30 s, because anybody can send logout tokens.
 */
export const providerKeys = (address: string, fetch: CustomFetch): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(address), {
    [customFetch]: (url, { headers, signal }) =>
      fetch(url, { method: 'GET', headers: Object.fromEntries(headers), body: undefined, redirect: 'manual', signal }),
  });

const tokenTypes = ['logout+jwt', 'jwt']; // accepted values of the header `typ`, if it is present

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/**
 * Verifies a logout token (OpenID Connect Back-Channel Logout 1.0, 2.6).
 * @throws ProviderRefused if the token or the response with the keys is not valid; ProviderUnavailable if the provider does not respond
 */
export async function verifyLogoutToken(token: string, { issuer, clientId, keys, algorithms }: ExpectedToken): Promise<SignOutStatement> {
  if (token.length > maxLength) throw new ProviderRefused('The logout token is too long.');
  const options = { issuer, audience: clientId, algorithms: [...algorithms], maxTokenAge: maxAge, clockTolerance: tolerance };
  const requiredClaims = ['iat', 'exp', 'jti', 'events'];
  const { payload, protectedHeader } = await jwtVerify(token, keys, { ...options, requiredClaims }).catch((cause: unknown) => {
    throw cause instanceof errors.JOSEError ? new ProviderRefused(`The logout token failed a check: ${cause.code}`, { cause }) : cause;
  });
  const { events, sub, sid, nonce } = payload;
  const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, event);
  const hasType = tokenTypes.includes(protectedHeader.typ?.toLowerCase().replace('application/', '') ?? 'jwt');
  if (!isLogout || !hasType || nonce !== undefined) throw new ProviderRefused('The token is not a logout token.');
  const statement = { sub: textOf(sub), sid: textOf(sid), issuer };
  if (statement.sub === '' && statement.sid === '') throw new ProviderRefused('The logout token names neither a user nor a session.');
  return statement;
}
