import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { codeLifetime } from '#core/sign-in-codes.ts';
import type { Credentials } from '#features/visits/sessions/authenticate-visitor.ts';
import { maxSessionDuration, surplusTokens } from '#features/visits/sessions/visit-session.ts';
import type { NewSession } from '#features/visits/sign-in/sign-in.ts';
import type { Store } from '#ports/store.ts';

const maxCookies = 30; // session cookies of one browser; `setSessionCookie` deletes those beyond thirty
const maxRead = 2 * maxCookies; // each cookie costs a lookup, and a browser normally sends at most thirty
const maxBasicLength = 1024; // characters

/** Returns whether links use HTTPS. If so, cookies are sent over HTTPS only. */
export const usesHttps = (publicUrl: string) => publicUrl.startsWith('https:');
/** Returns the prefix of the names of cookies. With https, a browser accepts such cookies from this host alone. */
export const cookiePrefix = (publicUrl: string) => (usesHttps(publicUrl) ? '__Host-postern-' : 'postern-');

/** Returns the tokens in the session cookies of a request, by login profile. Reads the first sixty. */
export function sessionTokens(request: FastifyRequest, publicUrl: string): Map<number, string> {
  const tokens = new Map<number, string>();
  const { cookie } = request.headers;
  if (cookie === undefined) return tokens;
  const prefix = cookiePrefix(publicUrl);
  for (const [name, value] of Object.entries(parseCookie(cookie))) {
    const id = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
    if (Number.isSafeInteger(id) && value && tokens.size < maxRead) tokens.set(id, value);
  }
  return tokens;
}

/** Returns the name and password of `Authorization: Basic` (RFC 7617), in UTF-8, or null. */
function parseBasic(header: string | undefined): Credentials['basic'] {
  if (header === undefined) return null;
  const encoded = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(header)?.[1];
  if (encoded === undefined || encoded.length > maxBasicLength) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 || text.includes('\0') ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Returns the credentials of a request: its session cookies and Basic authentication. */
export function credentialsOf(request: FastifyRequest, publicUrl: string): Credentials {
  const tokens = sessionTokens(request, publicUrl);
  return { session: (profileId) => tokens.get(profileId) ?? null, basic: parseBasic(request.headers.authorization) };
}

/**
 * Sets a cookie, or deletes it.
 * @param seconds its lifetime; 0: deletes it
 * @param isSentAcrossSites whether browsers send it with a POST that a page of another website starts. Has no effect
 *   without HTTPS, which browsers require for such cookies
 */
export function sendCookie(
  reply: FastifyReply,
  publicUrl: string,
  suffix: string,
  value: string,
  seconds: number,
  isSentAcrossSites = false,
): void {
  const cookie = stringifySetCookie({
    name: cookiePrefix(publicUrl) + suffix,
    value,
    maxAge: seconds,
    ...(seconds === 0 ? { expires: new Date(0) } : {}),
    httpOnly: true,
    sameSite: isSentAcrossSites && usesHttps(publicUrl) ? 'none' : 'lax',
    path: '/',
    secure: usesHttps(publicUrl),
  });
  reply.header('set-cookie', cookie); // added to the cookies that are already set
}

/** Sets the cookie of a session. Deletes cookies beyond thirty: first those whose session is not found, then the oldest. */
export async function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  store: Store,
  publicUrl: string,
  { profileId, token }: NewSession,
): Promise<void> {
  const others = sessionTokens(request, publicUrl);
  others.delete(profileId);
  const surplus = new Set(await surplusTokens(store.read, [...others.values()], maxCookies - 1));
  for (const [id, other] of others) if (surplus.has(other)) clearSessionCookie(reply, publicUrl, id);
  sendCookie(reply, publicUrl, String(profileId), token, maxSessionDuration / 1000);
}

/** Deletes the cookie of a session in the browser. */
export function clearSessionCookie(reply: FastifyReply, publicUrl: string, profileId: number): void {
  sendCookie(reply, publicUrl, String(profileId), '', 0);
}

/** Suffix of the cookie that identifies the browser for which codes were requested. */
const codeSuffix = 'code';

/** Returns the token of the browser for which codes are requested, or null. */
export function browserToken({ headers }: FastifyRequest, publicUrl: string): string | null {
  const token = parseCookie(headers.cookie ?? '')[cookiePrefix(publicUrl) + codeSuffix];
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : null;
}

/** Sets the token of the browser for which codes are requested. The cookie is valid as long as the newest code. */
export function setBrowserToken(reply: FastifyReply, publicUrl: string, token: string): void {
  sendCookie(reply, publicUrl, codeSuffix, token, codeLifetime / 1000);
}
