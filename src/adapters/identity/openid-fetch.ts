import { setImmediate } from 'node:timers/promises';
import type { CustomFetch } from 'openid-client';
import type { FairScheduler } from '#adapters/os/fair-scheduler.ts';
import { exceededJsonLimit } from '#core/json-structure.ts';
import type { Outbound } from '#ports/outbound.ts';
import { ProviderUnavailable } from '#ports/provider-errors.ts';
import { type CompleteResponse, requestProvider } from './provider-request.ts';

/** Limits of a response with tokens or claims: enough for thousands of groups. */
const limitsOfUser = { bytes: 1 << 18, depth: 16, values: 10_000 };
/** Limits of metadata and keys, which are cached and often copied. */
const limitsOfProvider = { bytes: 1 << 16, depth: 16, values: 2000 };
/** Limits of the claims in an ID token: enough for about 2000 groups whose names have 30 characters. */
const limitsOfClaims = { bytes: 1 << 16, depth: 16, values: 5000 };
/** Maximum characters of the numbers of an RSA key in base64url: a modulus of 4096 bits, and an exponent of 32 bits. */
const maxKeyText = { modulus: 683, exponent: 6 };
const statusesWithoutBody: readonly number[] = [204, 205, 304];
const smallResponse = 1 << 13; // bytes. Larger responses are parsed one after the other

/** Returns a request body as text, or null if there is none. The library sends form data only. */
function bodyText(body: unknown): string | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body);
  throw new TypeError('a request body must be text or form data');
}

/** Returns the members of a response as the library sees them, or null if the response is not a JSON object or array. */
function membersOf(content: Uint8Array): object | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(content).toString());
    return typeof value === 'object' ? value : null;
  } catch {
    return null; // the library reports the invalid JSON
  }
}

/** Returns the claims in the ID token of a response, as unparsed JSON, or null if the response has no ID token. */
function claimsBytesOf(content: Uint8Array): Uint8Array | null {
  const members = membersOf(content);
  const idToken: unknown = members && Reflect.get(members, 'id_token');
  const [, claims] = typeof idToken === 'string' ? idToken.split('.', 2) : [];
  return claims === undefined ? null : Buffer.from(claims, 'base64url');
}

/** Returns whether verifying a signature with a key (RFC 7517) costs no more than usual. */
function isUsualKey(key: unknown): boolean {
  if (typeof key !== 'object' || key === null) return true; // the library reports the invalid key
  const lengthOf = (member: 'n' | 'e') => `${Reflect.get(key, member) ?? ''}`.length;
  return lengthOf('n') <= maxKeyText.modulus && lengthOf('e') <= maxKeyText.exponent;
}

/** Returns the content of a response without the keys with which verifying a signature costs more than usual. */
function withUsualKeys(content: Uint8Array): Uint8Array {
  const members = membersOf(content);
  const keys: unknown = members && Reflect.get(members, 'keys');
  if (!Array.isArray(keys) || keys.every(isUsualKey)) return content;
  return Buffer.from(JSON.stringify({ ...members, keys: keys.filter(isUsualKey) }));
}

/**
 * Returns whether a response has an ID token whose claims exceed the limits. No user needs such claims, but the library parses all of
 * them, and sessions store some.
 */
function hasTooManyClaims(content: Uint8Array): boolean {
  const claims = claimsBytesOf(content);
  return claims !== null && (claims.length > limitsOfClaims.bytes || exceededJsonLimit(claims, limitsOfClaims) !== null);
}

/** Checks a response against its limits, and returns it for the library. @throws ProviderUnavailable */
function checkedResponse({ host }: URL, { status, headers, content }: CompleteResponse, limits: typeof limitsOfUser): Response {
  if (exceededJsonLimit(content, limits)) throw new ProviderUnavailable(`${host} sent JSON with too many values or levels.`);
  if (limits === limitsOfUser && hasTooManyClaims(content))
    throw new ProviderUnavailable(`${host} sent an ID token with too many or too long claims.`);
  const checkedContent = limits === limitsOfProvider ? withUsualKeys(content) : content;
  return new Response(statusesWithoutBody.includes(status) ? null : Buffer.from(checkedContent), { status, headers });
}

/**
 * Returns the result of `create` when it is the turn of a group. The turn then lasts two more iterations of the event loop, in which the
 * caller parses the result.
 */
function inParseTurn<T>(inTurn: FairScheduler, group: string, create: () => T): Promise<T> {
  const result = Promise.withResolvers<T>();
  void inTurn(group, async () => {
    try {
      result.resolve(create());
    } catch (cause) {
      result.reject(cause);
    }
    for (let iteration = 0; iteration < 2; iteration += 1) await setImmediate();
  });
  return result.promise;
}

/**
 * Returns a `fetch` for openid-client over connections whose addresses are checked. It follows no redirect, and limits the
 * responses.
 * @param tid tenant of the OpenID client
 * @param deadlineOf returns the signal that aborts a request
 * @param inTurn limits the parsing of large responses to one at a time. Tenants take turns
 * @throws ProviderUnavailable (thrown by the returned function), also for status 429 and 5xx
 */
export const openIdFetch =
  (outbound: Pick<Outbound, 'request'>, tid: number, deadlineOf: () => AbortSignal, inTurn: FairScheduler): CustomFetch =>
  async (address, { body, headers, method, signal }) => {
    const deadline = AbortSignal.any([deadlineOf(), ...(signal ? [signal] : [])]);
    const options = { method: method === 'POST' ? 'POST' : 'GET', headers, body: bodyText(body), signal: deadline, tid } as const;
    // A request for metadata or keys is the only GET without a token.
    const limits = options.method === 'GET' && !new Headers(headers).has('authorization') ? limitsOfProvider : limitsOfUser;
    const url = new URL(address);
    const response = await requestProvider(outbound, url, options, limits.bytes);
    if (response.content.length <= smallResponse) return checkedResponse(url, response, limits);
    return inParseTurn(inTurn, `${tid}`, () => {
      if (deadline.aborted) throw new ProviderUnavailable(`${url.host} sent large responses to too many sign-ins at once.`);
      return checkedResponse(url, response, limits);
    });
  };
