import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';

const isLink = ({ method, url }: FastifyRequest) => (method === 'GET' || method === 'HEAD') && /^\/[sp]\//.test(url);
const isHealth = ({ url }: FastifyRequest) => url.startsWith('/health/');

/**
 * Answers former addresses of this server (POSTERN_PUBLIC_URL_ALIASES): a link leads to the address of today, and nothing
 * else is answered there, so that no cookie and no key is ever sent to them.
 * @param aliases origins
 */
export function redirectAliases(app: FastifyInstance, aliases: readonly string[], publicUrl: () => string): void {
  const hosts = new Set(aliases.map((origin) => new URL(origin).host));
  if (hosts.size === 0) return;
  app.addHook('onRequest', (request, reply, done) => {
    if (!hosts.has((request.headers.host ?? '').toLowerCase()) || isHealth(request)) return done();
    if (!isLink(request)) return done(new Refusal('hostWrong', `This is answered under ${publicUrl()}.`));
    // Not cached for ever: a former address may come to be somebody else's.
    return void reply.header('cache-control', 'no-store').redirect(publicUrl() + request.url, 307);
  });
}
