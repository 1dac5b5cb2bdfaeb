import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Random } from '#ports/random.ts';
import { assetRoutes } from './asset-routes.ts';

const nonceBits = 128;
const placeholder = /__NONCE__/g;

/** Styles that the page makes while it runs carry the nonce of its own answer; scripts come from files alone. */
const contentPolicy = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/**
 * GET /console and all below it: the console, one application that asks /api/v1 and nothing else.
 * @param pages folder of the built console
 */
export async function consoleRoutes(app: FastifyInstance, pages: string, random: Random): Promise<void> {
  const file = join(pages, 'index.html');
  const page = existsSync(file)
    ? readFileSync(file, 'utf8')
    : '<!doctype html><title>Postern</title><p>The console is not built: run npm start.</p>';
  await assetRoutes(app, pages, '/console/assets/');
  for (const url of ['/console', '/console/*'])
    app.get(url, async (_request, reply) => {
      const nonce = random.token(nonceBits);
      return reply
        .headers({
          'content-security-policy': contentPolicy(nonce),
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
          'x-robots-tag': 'noindex',
          'cache-control': 'private, no-store',
        })
        .type('text/html; charset=utf-8')
        .send(page.replace(placeholder, nonce));
    });
}
