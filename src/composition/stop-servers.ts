import type { FastifyInstance } from 'fastify';
import type { Transfers } from '#features/visits/transfers/follow-transfers.ts';

const transferTimeout = 25_000; // ms for running transfers
const requestTimeout = 2000; // ms for all other requests after that

/** Stops servers: they accept no new connection, and running transfers and requests get time to end. */
export async function stopServers(servers: readonly FastifyInstance[], transfers: Pick<Transfers, 'drain'>): Promise<void> {
  const closed = Promise.all(servers.map((server) => server.close()));
  await transfers.drain(transferTimeout);
  const timer = setTimeout(() => {
    for (const { server } of servers) server.closeAllConnections();
  }, requestTimeout);
  await closed;
  clearTimeout(timer);
}
