import type { FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';

const isLoopbackName = (name: string) =>
  name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
const safe = ['GET', 'HEAD', 'OPTIONS'];

const longestOrigin = 300; // characters: a host has at most 253, and a longer one of odd letters takes milliseconds to read

/** Reads the scheme, host and port that a header names. */
export const originIn = (text: string): URL | null => (text.length > longestOrigin ? null : URL.parse(text));

/** Is this the address that visitors are told? While that is a loopback address, any loopback name on its port is. */
function isOwn(url: string, publicUrl: string): boolean {
  const [asked, own] = [originIn(url), new URL(publicUrl)];
  if (!asked) return false;
  if (asked.origin === own.origin) return true;
  return isLoopbackName(own.hostname) && isLoopbackName(asked.hostname) && asked.port === own.port && asked.protocol === own.protocol;
}

/** Checks the host that a link is asked for under; most requests name the one that was right before. */
export function hostCheck(publicUrl: () => string): (request: FastifyRequest) => void {
  let right: { readonly host: string; readonly url: string } | undefined;
  /** @throws 421 where it is another address than visitors are told */
  return ({ headers: { host = '' } }) => {
    const url = publicUrl();
    if (right?.host === host && right.url === url) return;
    if (!isOwn(`${new URL(url).protocol}//${host}`, url)) throw new Refusal('hostWrong', `Links are answered under ${url}.`);
    right = { host, url };
  };
}

const ours = ['same-origin', 'none'];

/** Does a browser say that a page of another site sends this? Programs say nothing. */
function comesFromElsewhere({ headers }: FastifyRequest, isOurs: (origin: URL) => boolean): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined && !ours.includes(String(site))) return true;
  if (origin === undefined) return false;
  const asked = originIn(origin);
  return asked === null || asked.origin !== origin || !/^https?:$/.test(asked.protocol) || !isOurs(asked);
}

/**
 * A change that another site's page sends to a link is refused.
 * @param publicUrl its origin counts as ours
 * @throws 403
 */
export function checkSite(request: FastifyRequest, publicUrl: string): void {
  if (safe.includes(request.method)) return;
  if (comesFromElsewhere(request, ({ origin }) => isOwn(origin, publicUrl))) throw new Refusal('otherSite');
}

/** The origin that the request's own Host names is ours, whether or not TLS ends before us (visit.md, Sessions). */
const namesHost =
  ({ headers: { host = '' } }: FastifyRequest, overTls: boolean) =>
  ({ protocol, host: asked }: URL) =>
    (protocol === 'https:' || !overTls) && originIn(`${protocol}//${host}`)?.host === asked;

/** How a call is made. */
interface Sent {
  /** A browser sends it by a session: it must say that it comes from here. */
  readonly bySession: boolean;
  /** The session was begun over TLS: a page that came without it is another's. */
  readonly overTls: boolean;
}

/**
 * A change that another site's page sends to the console or to /api/v1 is refused.
 * @throws 403
 */
export function checkOwnHost(request: FastifyRequest, { bySession, overTls }: Sent): void {
  if (safe.includes(request.method)) return;
  const { origin, 'sec-fetch-site': site } = request.headers;
  const silent = origin === undefined && site !== 'same-origin';
  if (comesFromElsewhere(request, namesHost(request, overTls)) || (bySession && silent)) throw new Refusal('otherSite');
}
