import type { FastifyInstance } from 'fastify';
import type { ReadinessCheck } from '#features/health/readiness.ts';
import { operations } from '#features/operations.ts';
import type { ClientTurns } from '#features/turns/search-turns.ts';
import { healthRoutes } from '#http/health.ts';
import { managementRoutes } from '#http/management/management-api.ts';
import { type Metrics, metricsRoute } from '#http/metrics.ts';
import { docsRoutes } from '#http/openapi/docs-page.ts';
import { consoleRoutes } from '#http/pages/console-pages.ts';
import { createHttpServer, type HttpSettings, refuseUnknownPaths } from '#http/server.ts';
import { redirectAliases } from '#http/visitor/public-aliases.ts';
import type { Ports } from '#ports/ports.ts';

/** The server of links and the server of the management interface and the console: often the same one. */
export interface Servers {
  readonly visitor: FastifyInstance;
  readonly management: FastifyInstance;
}

/** Creates the servers. @param isSeparate whether management has a server of its own */
export function createServers(settings: HttpSettings, ports: Ports, isSeparate: boolean): Servers {
  const visitor = createHttpServer(settings, ports);
  return { visitor, management: isSeparate ? createHttpServer(settings, ports) : visitor };
}

/** Returns each server once. */
export const allServers = ({ visitor, management }: Servers): FastifyInstance[] => [...new Set([visitor, management])];

interface CommonParts {
  readonly publicUrlAliases: readonly string[];
  readonly metrics: Metrics;
  readonly readiness: ReadinessCheck;
}

/** Adds redirects, the measurement of requests and health checks to each server. Call it before any other routes are added. */
export function addCommonRoutes(servers: Servers, { links }: Pick<Ports, 'links'>, parts: CommonParts): void {
  for (const server of allServers(servers)) {
    redirectAliases(server, parts.publicUrlAliases, links.publicUrl);
    parts.metrics.observe(server);
    healthRoutes(server, parts.readiness);
  }
}

/**
 * Adds the management interface, its documentation, the metrics and the console. On a separate server, also redirects / and refuses unknown
 * paths.
 * @param pages folder of the built console
 */
export async function addManagementRoutes(
  { visitor, management }: Servers,
  ports: Ports,
  { metrics, searches, pages }: { readonly metrics: Metrics; readonly searches: ClientTurns; readonly pages: string },
): Promise<void> {
  managementRoutes(management, operations, ports, searches);
  metricsRoute(management, metrics, ports);
  if (management !== visitor) {
    management.get('/', (_request, reply) => reply.redirect('/console'));
    refuseUnknownPaths(management, ports.clock);
  }
  docsRoutes(management, operations, ports.links);
  await consoleRoutes(management, pages, ports.random);
}
