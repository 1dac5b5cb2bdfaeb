import Fastify, { type FastifyInstance } from 'fastify';
import { Refusal } from '#core/messages.ts';
import type { Operation } from '#features/operation.ts';
import type { Links } from '#ports/links.ts';
import { type ConstantBody, constantBody, sendConstant } from './constant-answer.ts';
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

/** The path of an address, in one spelling. What is not UTF-8 was refused before. */
const pathOf = (address: string) => encodeURI(decodeURIComponent(new URL(address, 'http://localhost').pathname));

const mostFiles = 16; // of 4 MiB at most; the page has two

/** What the inner server answers under a path; files are kept, so that who asks for them costs nothing. */
function pageFiles(): (path: string) => Promise<ConstantBody | { readonly status: number; readonly location: string | null }> {
  let page: Promise<FastifyInstance> | undefined;
  const files = new Map<string, ConstantBody>();
  const underWay = new Map<string, Promise<ConstantBody | null>>();
  async function ask(path: string) {
    page ??= loadPage();
    return (await page).inject({ method: 'GET', url: path });
  }
  async function load(path: string): Promise<ConstantBody | null> {
    const { statusCode, headers, rawPayload } = await ask(path);
    return statusCode === 200 ? constantBody(String(headers['content-type'] ?? 'text/html; charset=utf-8'), rawPayload) : null;
  }
  return async (path) => {
    const known = files.get(path);
    if (known) return known;
    const loading = underWay.get(path) ?? load(path).finally(() => underWay.delete(path));
    underWay.set(path, loading);
    const file = await loading;
    if (file && files.size < mostFiles) files.set(path, file);
    if (file) return file;
    const { statusCode: status, headers } = await ask(path);
    return { status, location: headers.location === undefined ? null : String(headers.location) };
  };
}

/** GET /openapi.json, and /docs: a page to try the interface at, without the internet. */
export function docsRoutes(app: FastifyInstance, operations: readonly Operation[], links: Links): void {
  const fileAt = pageFiles();
  let document: Promise<ConstantBody> | undefined;
  const makeDocument = () =>
    constantBody('application/json; charset=utf-8', Buffer.from(JSON.stringify(openApi(operations, links.publicUrl()))));
  app.get('/openapi.json', async (request, reply) => {
    document ??= makeDocument();
    return sendConstant(request, reply, await document);
  });
  for (const url of ['/docs', '/docs/*'])
    app.get(url, async (request, reply) => {
      const answer = await fileAt(pathOf(request.url));
      reply.headers(headers);
      if (!('status' in answer)) return sendConstant(request, reply, answer);
      if (answer.location === null) throw new Refusal('notFound');
      return reply.code(answer.status).header('location', answer.location).send();
    });
}
