import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';
import type { Random } from '#ports/random.ts';
import { assetRoutes } from './asset-routes.ts';

const readOnly = ['GET', 'HEAD'];
const nonceBits = 128;
const placeholder = /__NONCE__/g;

/** Styles that the page makes while it runs carry the nonce of its own answer; scripts come from files alone. */
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
  'cache-control': 'private, no-store', // assets that are there say otherwise
} as const;

/** Where scripts may come from: on an address that visitors share, nothing that they have uploaded. */
function scriptsOf({ headers: { host = '' } }: FastifyRequest): string {
  return /^[\w.-]+(:\d+)?$/.test(host) ? `${host}/console/assets/` : "'self'";
}

/**
 * GET /console and all below it: the console, one application that asks /api/v1 and nothing else.
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
        readOnly.includes(request.method) ? undefined : new Refusal('methodWrong', 'This address takes GET, HEAD.', { allow: 'GET, HEAD' }),
      );
    });
    await assetRoutes(scope, pages, '/console/assets/');
    for (const url of ['/console', '/console/*']) {
      scope.get(url, async (request, reply) => {
        const nonce = random.token(nonceBits);
        const policy = contentPolicy(nonce, scriptsOf(request));
        return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(page.replace(placeholder, nonce));
      });
      scope.route({ method: ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], url, handler: async () => {} }); // refused before its body
    }
  });
}
