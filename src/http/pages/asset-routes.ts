import { existsSync } from 'node:fs';
import { join } from 'node:path';
import assets from '@fastify/static';
import type { FastifyInstance } from 'fastify';

const hashed = /-[\w-]{8}\.\w+$/; // a name that changes with its content never goes stale

/** Scripts and styles of built pages, below `prefix`. */
export async function assetRoutes(app: FastifyInstance, pages: string, prefix: string): Promise<void> {
  const root = join(pages, 'assets');
  if (!existsSync(root)) return;
  await app.register(assets, {
    root,
    prefix,
    decorateReply: false,
    index: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders(response, path) {
      response.header('cache-control', hashed.test(path.replace(/\.(br|gz)$/, '')) ? 'public, max-age=31536000, immutable' : 'no-cache');
      response.header('x-content-type-options', 'nosniff');
    },
  });
}
