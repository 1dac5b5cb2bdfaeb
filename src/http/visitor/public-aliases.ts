import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';

const isLink = ({ method, url }: FastifyRequest) => (method === 'GET' || method === 'HEAD') && /^\/[sp]\//.test(url);
const isHealth = ({ url }: FastifyRequest) => url.startsWith('/health/');

/**
 * Redirects links at former addresses of this server (POSTERN_PUBLIC_URL_ALIASES) to the current address. All other requests
 * there, except for /health/, are refused, so that clients send no cookie and no key to a former address.
 * @param aliases origins of the former addresses
 */
export function redirectAliases(app: FastifyInstance, aliases: readonly string[], publicUrl: () => string): void {
  const hosts = new Set(aliases.map((origin) => new URL(origin).host));
  if (hosts.size === 0) return;
  app.addHook('onRequest', (request, reply, done) => {
    if (!hosts.has((request.headers.host ?? '').toLowerCase()) || isHealth(request)) return done();
    if (!isLink(request)) return done(new Refusal('hostWrong', `Use the current address ${publicUrl()}.`));
    // Browsers must not cache the redirect: somebody else may own the former address later.
    return void reply.header('cache-control', 'no-store').redirect(publicUrl() + request.url, 307);
  });
}
