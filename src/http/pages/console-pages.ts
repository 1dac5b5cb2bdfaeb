import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';
import type { Random } from '#ports/random.ts';
import { assetRoutes } from './asset-routes.ts';

const allowedMethods = ['GET', 'HEAD'];
const nonceBits = 128;
const noncePlaceholder = /__NONCE__/g;

/** Returns the CSP of the console. Styles added at run time carry the nonce of their page; scripts come only from files. */
const contentPolicy = (nonce: string, scripts: string) =>
  [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const headers = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
  'cache-control': 'private, no-store', // assets replace it with their own
} as const;

/** Returns the allowed source of scripts. If visitors use the same host, their uploads must not run as scripts. */
function scriptSource({ headers: { host = '' } }: FastifyRequest): string {
  return /^[\w.-]+(:\d+)?$/.test(host) ? `${host}/console/assets/` : "'self'";
}

/**
 * Adds GET /console and all paths below it: the console, one application that calls only /api/v1.
 * @param pages folder of the built console
 */
export async function consoleRoutes(app: FastifyInstance, pages: string, random: Random): Promise<void> {
  const file = join(pages, 'index.html');
  const page = existsSync(file)
    ? readFileSync(file, 'utf8')
    : '<!doctype html><title>Postern</title><p>The console is not built: run npm start.</p>';
  await app.register(async (scope) => {
    scope.addHook('onRequest', (request, reply, done) => {
      reply.headers(headers);
      done(
        allowedMethods.includes(request.method)
          ? undefined
          : new Refusal('methodWrong', 'This address accepts only GET, HEAD.', { allow: 'GET, HEAD' }),
      );
    });
    await assetRoutes(scope, pages, '/console/assets/');
    for (const url of ['/console', '/console/*']) {
      scope.get(url, async (request, reply) => {
        const nonce = random.token(nonceBits);
        const policy = contentPolicy(nonce, scriptSource(request));
        return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(page.replace(noncePlaceholder, nonce));
      });
      scope.route({ method: ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], url, handler: async () => {} }); // refused by the hook
    }
  });
}
