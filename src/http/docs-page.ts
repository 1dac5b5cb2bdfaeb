import Fastify, { type FastifyInstance } from 'fastify';
import type { Operation } from '#features/operation.ts';
import type { Links } from '#ports/links.ts';
import { openApi } from './openapi.ts';

// The page's own script writes styles and one inline script; it reaches this server alone.
const policy =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";
const headers = { 'content-security-policy': policy, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/** The page's files, in an inner server that is made when first asked for: it takes 40 MiB that most processes never need. */
async function loadPage(): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const inner = Fastify();
  await inner.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      title: 'Postern',
      withDefaultFonts: false,
      telemetry: false,
      // What leads to the vendor's own services is left out: the page documents this server, without the internet.
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: 'never',
      customCss: 'a[href*="scalar.com"] { display: none !important; }',
    },
  });
  return inner;
}

/** GET /openapi.json, and /docs: a page to try the interface at, without the internet. */
export function docsRoutes(app: FastifyInstance, operations: readonly Operation[], links: Links): void {
  let page: Promise<FastifyInstance> | undefined;
  app.get('/openapi.json', async () => openApi(operations, links.publicUrl()));
  for (const url of ['/docs', '/docs/*'])
    app.get(url, async (request, reply) => {
      page ??= loadPage();
      const answer = await (await page).inject({ method: 'GET', url: request.url });
      const type = String(answer.headers['content-type'] ?? 'text/html; charset=utf-8');
      const { location } = answer.headers;
      if (location !== undefined) reply.header('location', location);
      return reply.code(answer.statusCode).headers(headers).type(type).send(answer.rawPayload);
    });
}
