import { existsSync } from 'node:fs';
import { join } from 'node:path';
import assets from '@fastify/static';
import type { FastifyInstance } from 'fastify';

const hashedName = /-[\w-]{8}\.\w+$/; // the hash changes with the content, so browsers may cache the file for a year

/** Adds the scripts and styles of built pages, under `prefix`. @param pages folder of the built pages */
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
      response.header(
        'cache-control',
        hashedName.test(path.replace(/\.(br|gz)$/, '')) ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
      response.header('x-content-type-options', 'nosniff');
    },
  });
}
