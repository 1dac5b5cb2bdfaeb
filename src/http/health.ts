import type { FastifyInstance } from 'fastify';
import type { ReadinessCheck } from '#features/health/readiness.ts';

/** Adds GET /health/live and /health/ready. Only `store` and `data` change the status code; a full disk does not. */
export function healthRoutes(app: FastifyInstance, check: ReadinessCheck): void {
  app.get('/health/live', async () => ({ status: 'live' }));
  app.get('/health/ready', async (_request, reply) => {
    const { store, data, full, damaged, locations, jobs } = await check.readiness();
    const ready = store && data;
    return reply.code(ready ? 200 : 503).send({
      status: ready ? (full ? 'full' : 'ready') : 'away',
      store,
      data,
      full,
      damaged,
      jobs,
      // No names: this route needs no authentication.
      locations: locations.map(({ id, kind, answers }) => ({ id, kind, answers })),
    });
  });
}
