import { accessSync, constants } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { Ports } from '#ports/ports.ts';

const locationPatience = 1000; // ms; a mount that hangs is reported as away

/** Runs a check and says only whether it passed. */
async function passes(check: () => Promise<unknown>): Promise<boolean> {
  const late = new Promise<never>((_, reject) => setTimeout(reject, locationPatience, new Error('no answer')).unref());
  return Promise.race([check(), late]).then(
    () => true,
    () => false,
  );
}

async function locationsOf({ store, storages, vault }: Ports) {
  const rows = await store.read.selectFrom('location').selectAll().execute();
  return Promise.all(
    rows.map(async (row) => ({
      id: row.id,
      kind: row.kind,
      answers: await passes(async () =>
        (await storages.open({ ...row, configuration: vault.open('location', row.configuration) })).check(),
      ),
    })),
  );
}

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
