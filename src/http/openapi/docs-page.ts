import Fastify, { type FastifyInstance } from 'fastify';
import type { Operation } from '#features/operation.ts';
import { type ConstantResponse, constantBody, sendConstant } from '#http/pages/constant-response.ts';
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

/** Addresses of the page and of its script, as the inner server has them. */
const paths = ['/docs/', '/docs/js/scalar.js'];

/** Returns the files of the page, each loaded when first asked for, and kept. */
function pageFiles(): (path: string) => Promise<ConstantResponse> {
  let page: Promise<FastifyInstance> | undefined;
  const files = new Map<string, Promise<ConstantResponse>>();
  async function load(path: string): Promise<ConstantResponse> {
    page ??= loadPage();
    const { statusCode, headers, rawPayload } = await (await page).inject({ method: 'GET', url: path });
    if (statusCode !== 200) throw new Error(`the page of the interface lacks ${path}`);
    return constantBody(String(headers['content-type']), rawPayload);
  }
  return (path) => {
    const file = files.get(path) ?? load(path);
    files.set(path, file);
    file.catch(() => {
      files.delete(path); // the next request loads it again
      page = undefined;
    });
    return file;
  };
}

/** GET /openapi.json, and /docs: a page to try the interface at, without the internet. */
export function docsRoutes(app: FastifyInstance, operations: readonly Operation[], links: Links): void {
  const fileAt = pageFiles();
  let document: Promise<ConstantResponse> | undefined;
  const makeDocument = () =>
    constantBody('application/json; charset=utf-8', Buffer.from(JSON.stringify(openApi(operations, links.publicUrl()))));
  app.get('/openapi.json', async (request, reply) => {
    document ??= makeDocument();
    return sendConstant(request, reply, await document);
  });
  app.get('/docs', (_request, reply) => reply.redirect('/docs/', 301)); // its script is named relative to it
  for (const url of paths) app.get(url, async (request, reply) => sendConstant(request, reply.headers(headers), await fileAt(url)));
}
