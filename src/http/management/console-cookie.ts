import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

const plainName = 'postern-console';
/** A cookie of this name can be set by this very host alone, and over TLS (RFC 6265bis, 4.1.3.2). */
const secureName = `__Host-${plainName}`;

/**
 * Returns whether the client speaks TLS. It may end at a proxy that is not declared: the browser's own Origin, or the
 * public address, says so.
 */
export function isSecure(request: FastifyRequest, publicUrl: string): boolean {
  if (request.protocol === 'https' || request.headers.origin?.startsWith('https:')) return true;
  const { protocol, host } = new URL(publicUrl);
  return protocol === 'https:' && request.headers.host === host;
}

const cookiesOf = ({ headers: { cookie } }: FastifyRequest) => (cookie === undefined ? {} : parseCookie(cookie));

/** Does the request carry a session that was begun over TLS? */
export const carriesSecure = (request: FastifyRequest) => cookiesOf(request)[secureName] !== undefined;

/** The token of the console's session that a request carries, or null. Over TLS no other host can have planted it. */
export function consoleToken(request: FastifyRequest, publicUrl: string): string | null {
  const cookies = cookiesOf(request);
  return cookies[secureName] ?? (isSecure(request, publicUrl) ? null : (cookies[plainName] ?? null));
}

/** Every token that a request carries: signing out leaves none alive. */
export const allConsoleTokens = (request: FastifyRequest): string[] =>
  [secureName, plainName].flatMap((name) => cookiesOf(request)[name] ?? []);

function send(reply: FastifyReply, name: string, value: string, seconds: number): void {
  const cookie = { name, value, maxAge: seconds, httpOnly: true, sameSite: 'strict', path: '/', secure: name === secureName } as const;
  reply.header('set-cookie', stringifySetCookie(cookie)); // beside those that are set already
}

/** @param seconds how long the browser keeps it */
export function setConsoleCookie(request: FastifyRequest, reply: FastifyReply, publicUrl: string, token: string, seconds: number): void {
  send(reply, isSecure(request, publicUrl) ? secureName : plainName, token, seconds);
}

export function clearConsoleCookies(request: FastifyRequest, reply: FastifyReply, publicUrl: string): void {
  for (const name of [secureName, plainName])
    if (cookiesOf(request)[name] !== undefined || (name === secureName) === isSecure(request, publicUrl)) send(reply, name, '', 0);
}
