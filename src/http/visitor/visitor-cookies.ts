import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credentials } from '#features/visits/sessions/authenticate-visitor.ts';
import { longestSession, surplusTokens } from '#features/visits/sessions/visit-session.ts';
import type { NewSession } from '#features/visits/sign-in/sign-in.ts';
import type { Store } from '#ports/store.ts';

const mostCookies = 30; // visit.md, Sessions: the thirty newest are kept
const mostRead = 2 * mostCookies; // a browser sends hardly more than we let it keep, and each costs a look-up
const longestBasic = 1024;

const isSecure = (publicUrl: string) => publicUrl.startsWith('https:');
const prefixOf = (publicUrl: string) => (isSecure(publicUrl) ? '__Host-postern-' : 'postern-');

/** The session cookies of a request, by login profile: the first sixty. */
export function sessionTokens(request: FastifyRequest, publicUrl: string): Map<number, string> {
  const tokens = new Map<number, string>();
  const { cookie } = request.headers;
  if (cookie === undefined) return tokens;
  const prefix = prefixOf(publicUrl);
  for (const [name, value] of Object.entries(parseCookie(cookie))) {
    const id = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
    if (Number.isSafeInteger(id) && value && tokens.size < mostRead) tokens.set(id, value);
  }
  return tokens;
}

/** `Authorization: Basic` (RFC 7617), in UTF-8. */
function basicOf(header: string | undefined): Credentials['basic'] {
  if (header === undefined) return null;
  const encoded = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(header)?.[1];
  if (encoded === undefined || encoded.length > longestBasic) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 || text.includes('\0') ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** What the request can be recognised by. */
export function credentialsOf(request: FastifyRequest, publicUrl: string): Credentials {
  const tokens = sessionTokens(request, publicUrl);
  return { session: (profileId) => tokens.get(profileId) ?? null, basic: basicOf(request.headers.authorization) };
}

function sendCookie(reply: FastifyReply, publicUrl: string, profileId: number, value: string, seconds: number): void {
  const cookie = stringifySetCookie({
    name: prefixOf(publicUrl) + profileId,
    value,
    maxAge: seconds,
    ...(seconds === 0 ? { expires: new Date(0) } : {}),
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure: isSecure(publicUrl),
  });
  reply.header('set-cookie', cookie); // beside those that are set already
}

/** Sets a session's cookie, and forgets the oldest beyond thirty. */
export async function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  store: Store,
  publicUrl: string,
  { profileId, token }: NewSession,
): Promise<void> {
  const others = sessionTokens(request, publicUrl);
  others.delete(profileId);
  const surplus = new Set(await surplusTokens(store.read, [...others.values()], mostCookies - 1));
  for (const [id, known] of others) if (surplus.has(known)) clearSessionCookie(reply, publicUrl, id);
  sendCookie(reply, publicUrl, profileId, token, longestSession / 1000);
}

export function clearSessionCookie(reply: FastifyReply, publicUrl: string, profileId: number): void {
  sendCookie(reply, publicUrl, profileId, '', 0);
}
