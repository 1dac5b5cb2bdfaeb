import type { FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';

const isLoopbackName = (name: string) =>
  name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
const safe = ['GET', 'HEAD', 'OPTIONS'];

/** Is this the address that visitors are told? While that is a loopback address, any loopback name on its port is. */
function isOwn(url: string, publicUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const [asked, own] = [new URL(url), new URL(publicUrl)];
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

/**
 * A change that another site's page sends is refused.
 * @param own the origin that counts as ours
 * @throws 403
 */
export function checkSite(request: FastifyRequest, own: string): void {
  if (safe.includes(request.method)) return;
  const { origin } = request.headers;
  if (origin !== undefined) {
    if (origin !== 'null' && isOwn(origin, own)) return;
    throw new Refusal('otherSite');
  }
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw new Refusal('otherSite');
}
