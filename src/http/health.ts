import { accessSync, constants } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { locationsHealth, passes } from '#features/location-health.ts';
import type { Ports } from '#ports/ports.ts';

/** Without names: whoever asks need not be anybody. */
const locationsOf = async (ports: Ports) => (await locationsHealth(ports)).map(({ id, kind, answers }) => ({ id, kind, answers }));

/** GET /health/live and /health/ready: locations are reported, and never change the status. */
export function healthRoutes(app: FastifyInstance, ports: Ports, data: string): void {
  app.get('/health/live', async () => ({ status: 'live' }));
  app.get('/health/ready', async (_request, reply) => {
    const store = await passes(() => ports.store.check());
    const folder = await passes(async () => accessSync(data, constants.R_OK | constants.W_OK));
    const ready = store && folder;
    return reply
      .code(ready ? 200 : 503)
      .send({ status: ready ? 'ready' : 'away', store, data: folder, locations: store ? await locationsOf(ports) : [] });
  });
}
