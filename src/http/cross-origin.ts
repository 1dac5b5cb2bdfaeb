import type { FastifyRequest } from 'fastify';
import { isLoopbackHost } from '#core/loopback.ts';
import { Refusal } from '#core/messages.ts';

const isLoopbackName = (name: string) => isLoopbackHost(name) || name.endsWith('.localhost');
const safeMethods = ['GET', 'HEAD', 'OPTIONS'];

const maxOriginLength = 300; // characters: a host has at most 253. Parsing 5000 ligatures such as U+FDFA takes milliseconds

/** Returns the URL of an origin, or null if the text is malformed or too long. */
export const parseOrigin = (text: string): URL | null => (text.length > maxOriginLength ? null : URL.parse(text));

/**
 * Returns whether an address is the public one. If the public address is a loopback address, all loopback names with its scheme and port
 * count as equal.
 */
function isPublicAddress(url: string, publicUrl: string): boolean {
  const [requestedAddress, publicAddress] = [parseOrigin(url), new URL(publicUrl)];
  if (!requestedAddress) return false;
  if (requestedAddress.origin === publicAddress.origin) return true;
  return (
    isLoopbackName(publicAddress.hostname) &&
    isLoopbackName(requestedAddress.hostname) &&
    requestedAddress.port === publicAddress.port &&
    requestedAddress.protocol === publicAddress.protocol
  );
}

/** Returns a check of the Host header of requests at links. It remembers the last accepted host, because most requests repeat it. */
export function hostCheck(publicUrl: () => string): (request: FastifyRequest) => void {
  let lastAccepted: { readonly host: string; readonly url: string } | undefined;
  /** @throws Refusal (421) for a host other than the public one */
  return ({ headers: { host = '' } }) => {
    const url = publicUrl();
    if (lastAccepted?.host === host && lastAccepted.url === url) return;
    if (!isPublicAddress(`${new URL(url).protocol}//${host}`, url)) throw new Refusal('hostWrong', `Open links at ${url}.`);
    lastAccepted = { host, url };
  };
}

const ownFetchSites = ['same-origin', 'none'];

/** Returns whether a browser says that a page of another origin sends the request. Other clients send neither Origin nor Sec-Fetch-Site. */
function isCrossOrigin({ headers }: FastifyRequest, isOwnOrigin: (origin: URL) => boolean): boolean {
  const { origin, 'sec-fetch-site': fetchSite } = headers;
  if (fetchSite !== undefined && !ownFetchSites.includes(String(fetchSite))) return true;
  if (origin === undefined) return false;
  const originUrl = parseOrigin(origin);
  return originUrl === null || originUrl.origin !== origin || !/^https?:$/.test(originUrl.protocol) || !isOwnOrigin(originUrl);
}

/**
 * Refuses a change that a page of another origin sends to a link.
 * @param publicUrl its origin counts as our own
 * @throws Refusal (403)
 */
export function checkLinkOrigin(request: FastifyRequest, publicUrl: string): void {
  if (safeMethods.includes(request.method)) return;
  if (isCrossOrigin(request, ({ origin }) => isPublicAddress(origin, publicUrl))) throw new Refusal('otherSite');
}

/**
 * Returns a check of an origin: its host must be that of the Host header. The scheme may differ, since a proxy may terminate TLS.
 * @param overTls true: the origin must be https
 */
const hasRequestHost =
  ({ headers: { host = '' } }: FastifyRequest, overTls: boolean) =>
  ({ protocol, host: originHost }: URL) =>
    (protocol === 'https:' || !overTls) && parseOrigin(`${protocol}//${host}`)?.host === originHost;

/** How a request is authenticated. */
interface SessionUse {
  /** true: by the cookie of a session. Pages on other hosts of the same website can send it too: the request must name our origin. */
  readonly bySession: boolean;
  /** true: the session was started over TLS, so a page loaded without TLS counts as another origin. */
  readonly overTls: boolean;
}

/**
 * Refuses a change that a page of another origin sends to the console or to /api/v1.
 * @throws Refusal (403)
 */
export function checkManagementOrigin(request: FastifyRequest, { bySession, overTls }: SessionUse): void {
  if (safeMethods.includes(request.method)) return;
  const { origin, 'sec-fetch-site': fetchSite } = request.headers;
  const lacksOrigin = origin === undefined && fetchSite !== 'same-origin';
  if (isCrossOrigin(request, hasRequestHost(request, overTls)) || (bySession && lacksOrigin)) throw new Refusal('otherSite');
}
