import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

const plainName = 'postern-console';
/** A cookie of this name can be set by this very host alone, and over TLS (RFC 6265bis, 4.1.3.2). */
const secureName = `__Host-${plainName}`;

/** TLS may end at a proxy that is not told to us: the browser's own Origin says so then. */
const isSecure = (request: FastifyRequest) =>
  request.protocol === 'https' || (request.headers.origin ?? request.headers.referer ?? '').startsWith('https:');

/** The token of the console's session that a request carries, or null. */
export function consoleToken(request: FastifyRequest): string | null {
  const { cookie } = request.headers;
  if (cookie === undefined) return null;
  const cookies = parseCookie(cookie);
  return cookies[secureName] ?? cookies[plainName] ?? null;
}

/** @param seconds 0: the cookie is forgotten */
export function setConsoleCookie(request: FastifyRequest, reply: FastifyReply, token: string, seconds: number): void {
  const secure = isSecure(request);
  const cookie = stringifySetCookie({
    name: secure ? secureName : plainName,
    value: token,
    maxAge: seconds,
    httpOnly: true,
    sameSite: 'strict',
    path: '/',
    secure,
  });
  reply.header('set-cookie', cookie);
}
