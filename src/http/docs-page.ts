import reference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import type { Operation } from '#features/operation.ts';
import type { Links } from '#ports/links.ts';
import { openApi } from './openapi.ts';

// The page's own script writes styles and one inline script; it reaches this server alone.
const policy =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

/** GET /openapi.json, and /docs: a page to try the interface at, without the internet. */
export async function docsRoutes(app: FastifyInstance, operations: readonly Operation[], links: Links): Promise<void> {
  app.get('/openapi.json', async () => openApi(operations, links.publicUrl()));
  await app.register(async (docs) => {
    docs.addHook('onSend', async (_request, reply) => {
      reply.headers({ 'content-security-policy': policy, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    });
    await docs.register(reference, {
      routePrefix: '/docs',
      configuration: { url: '/openapi.json', title: 'Postern', withDefaultFonts: false, telemetry: false, agent: { disabled: true } },
    });
  });
}
