import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { Refusal } from '#core/messages.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { checkRole } from '#features/operators/still-calls.ts';
import type { Transfers } from '#features/visits/transfers.ts';
import type { Ports } from '#ports/ports.ts';
import { callerOf } from './callers.ts';

/** What the process counts about itself. */
export interface Metrics {
  readonly registry: Registry;
  readonly unknownLink: () => void;
  /** Measures every request of a server. */
  observe(app: FastifyInstance): void;
}

export function processMetrics(transfers: Transfers): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const seconds = new Histogram({
    name: 'postern_http_request_seconds',
    help: 'Requests by route and status, until their answer was sent.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const unknown = new Counter({
    name: 'postern_unknown_links_total',
    help: 'Requests for links that do not exist.',
    registers: [registry],
  });
  new Gauge({
    name: 'postern_transfers',
    help: 'Transfers under way.',
    registers: [registry],
    collect() {
      this.set(transfers.count());
    },
  });
  return {
    registry,
    unknownLink: () => unknown.inc(),
    observe(app) {
      app.addHook('onResponse', (request, reply, done) => {
        seconds.observe(
          { method: request.method, route: request.routeOptions.url ?? 'none', status: reply.statusCode },
          reply.elapsedTime / 1000,
        );
        done();
      });
    },
  };
}

/** GET /metrics, for Prometheus, with an admin key. */
export function metricsRoute(app: FastifyInstance, { registry }: Metrics, ports: Ports): void {
  app.get('/metrics', async (request, reply) => {
    const caller = await callerOf(request, ports);
    checkRole(caller, 'admin');
    if (caller.tid !== firstTenant) throw new Refusal('tenantForbidden');
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
