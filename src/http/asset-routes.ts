import { existsSync } from 'node:fs';
import { join } from 'node:path';
import assets from '@fastify/static';
import type { FastifyInstance } from 'fastify';

const hashed = /-[\w-]{8}\.\w+$/; // a name that changes with its content never goes stale

/** GET /assets/…: scripts and styles of the visitor's pages. */
export async function assetRoutes(app: FastifyInstance, pages: string): Promise<void> {
  const root = join(pages, 'assets');
  if (!existsSync(root)) return;
  await app.register(assets, {
    root,
    prefix: '/assets/',
    index: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders(response, path) {
      response.header('cache-control', hashed.test(path.replace(/\.(br|gz)$/, '')) ? 'public, max-age=31536000, immutable' : 'no-cache');
      response.header('x-content-type-options', 'nosniff');
    },
  });
}
