import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { authorizeVisit } from '#features/visits/authorization/authorize-visit.ts';
import { accessPortal } from '#features/visits/authorization/portal.ts';
import { type VisitorParts, visitorRequestOf } from '#http/visitor/visitor-request.ts';
import { readerOf } from './card-page.ts';
import { frontPage } from './front-page.ts';

/** Adds the front page, and the page of links and portals. */
export function pageRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const file = join(parts.pages, 'index.html');
  const page = existsSync(file)
    ? readFileSync(file, 'utf8')
    : '<!doctype html><title>Postern</title><p>The pages are not built: run npm start.</p>';
  app.get('/', async (request, reply) => reply.type('text/html; charset=utf-8').send(frontPage(parts.hasManagement, readerOf(request))));
  // Mail programs and people may add a slash: it is the same address.
  for (const end of ['', '/']) {
    app.get(`/s/:viewId${end}`, async (request, reply) => {
      await authorizeVisit(
        parts.ports,
        { ...visitorRequestOf(request, parts), credentials: { basic: null, session: () => null } },
        { action: 'page' },
      );
      return reply.type('text/html; charset=utf-8').send(page);
    });
    app.get(`/p/:viewId${end}`, async (request, reply) => {
      await accessPortal(parts.ports, visitorRequestOf(request, parts));
      return reply.type('text/html; charset=utf-8').send(page);
    });
  }
}
