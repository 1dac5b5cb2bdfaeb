import { setImmediate } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Operation } from '#features/operation.ts';
import { type ConstantResponse, createConstantResponse, sendConstant } from '#http/pages/constant-response.ts';
import type { Links } from '#ports/links.ts';
import { openApi } from './openapi.ts';

// The page's script adds styles and one inline script. It can connect only to this server.
const policy =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";
const headers = { 'content-security-policy': policy, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/** Creates an inner server with the page's files. It takes 40 MiB, so processes create it only when the page is requested. */
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
      // Links to the vendor's services are left out: the page documents this server and works without the internet.
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: 'never',
      customCss: 'a[href*="scalar.com"] { display: none !important; }',
    },
  });
  return inner;
}

/** Paths of the page and its script, the same as in the inner server. */
const paths = ['/docs/', '/docs/js/scalar.js'];

/** Loads the page's files at the first request for each, and caches them. */
class PageFiles {
  readonly #files = new Map<string, ConstantResponse>();
  readonly #loading = new Map<string, Promise<ConstantResponse>>();
  #page: Promise<FastifyInstance> | undefined;
  #lastWaiter: Promise<unknown> = Promise.resolve();

  /** Requests that waited for a file continue one by one: hundreds of copies of the script at once would block the event loop. */
  async get(path: string): Promise<ConstantResponse> {
    const cached = this.#files.get(path);
    if (cached) return cached;
    const file = await this.#load(path);
    const previous = this.#lastWaiter;
    this.#lastWaiter = previous.then(() => setImmediate());
    await previous;
    return file;
  }

  #load(path: string): Promise<ConstantResponse> {
    const loading = this.#loading.get(path) ?? this.#read(path).finally(() => this.#loading.delete(path));
    this.#loading.set(path, loading);
    return loading;
  }

  async #read(path: string): Promise<ConstantResponse> {
    try {
      this.#page ??= loadPage();
      const { statusCode, headers, rawPayload } = await (await this.#page).inject({ method: 'GET', url: path });
      if (statusCode !== 200) throw new Error(`the API documentation has no file ${path}`);
      const file = await createConstantResponse(String(headers['content-type']), rawPayload);
      this.#files.set(path, file);
      return file;
    } catch (cause) {
      this.#page = undefined; // the next request loads it again
      throw cause;
    }
  }
}

/** Adds GET /openapi.json and /docs, a page where readers can try the API. The page works without the internet. */
export function docsRoutes(app: FastifyInstance, operations: readonly Operation[], links: Links): void {
  const files = new PageFiles();
  let document: Promise<ConstantResponse> | undefined;
  const createDocument = () =>
    createConstantResponse('application/json; charset=utf-8', Buffer.from(JSON.stringify(openApi(operations, links.publicUrl()))));
  app.get('/openapi.json', async (request, reply) => {
    document ??= createDocument();
    return sendConstant(request, reply, await document);
  });
  app.get('/docs', (_request, reply) => reply.redirect('/docs/', 301)); // the page loads its script by a relative path
  for (const url of paths) app.get(url, async (request, reply) => sendConstant(request, reply.headers(headers), await files.get(url)));
}
