import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

const plainName = 'postern-console';
/** Only this host can set a cookie of this name, and only over TLS (RFC 6265bis, 4.1.3.2). */
const secureName = `__Host-${plainName}`;

/**
 * Returns whether the protocol of a request, or its Host header together with the public address, shows that the client uses https.
 */
export function isSecureAddress(request: FastifyRequest, publicUrl: string): boolean {
  if (request.protocol === 'https') return true;
  const { protocol, host } = new URL(publicUrl);
  return protocol === 'https:' && request.headers.host === host;
}

/**
 * Returns whether the client uses TLS. A proxy that is not configured as trusted may terminate TLS: then the browser's
 * Origin header or the public address shows it.
 */
export const isSecure = (request: FastifyRequest, publicUrl: string): boolean =>
  request.headers.origin?.startsWith('https:') === true || isSecureAddress(request, publicUrl);

const cookiesOf = ({ headers: { cookie } }: FastifyRequest) => (cookie === undefined ? {} : parseCookie(cookie));

/** Returns whether the request has the cookie of a session that was started over TLS. */
export const hasSecureSession = (request: FastifyRequest) => cookiesOf(request)[secureName] !== undefined;

/**
 * Returns the token of the console's session in a request, or null. Over TLS, only this host can have set it: the name begins with
 * `__Host-`.
 */
export function consoleToken(request: FastifyRequest, publicUrl: string): string | null {
  const cookies = cookiesOf(request);
  return cookies[secureName] ?? (isSecure(request, publicUrl) ? null : (cookies[plainName] ?? null));
}

/** Returns every session token in a request, so that signing out ends them all. */
export const allConsoleTokens = (request: FastifyRequest): string[] =>
  [secureName, plainName].flatMap((name) => cookiesOf(request)[name] ?? []);

function sendCookie(reply: FastifyReply, name: string, value: string, seconds: number): void {
  const cookie = { name, value, maxAge: seconds, httpOnly: true, sameSite: 'strict', path: '/', secure: name === secureName } as const;
  reply.header('set-cookie', stringifySetCookie(cookie)); // added to the cookies that are already set
}

/** Sets the cookie of the console's session. @param seconds how long the browser keeps it */
export function setConsoleCookie(request: FastifyRequest, reply: FastifyReply, publicUrl: string, token: string, seconds: number): void {
  sendCookie(reply, isSecure(request, publicUrl) ? secureName : plainName, token, seconds);
}

/** Deletes the cookies of the console's session in the browser. */
export function clearConsoleCookies(request: FastifyRequest, reply: FastifyReply, publicUrl: string): void {
  for (const name of [secureName, plainName])
    if (cookiesOf(request)[name] !== undefined || (name === secureName) === isSecure(request, publicUrl)) sendCookie(reply, name, '', 0);
}
