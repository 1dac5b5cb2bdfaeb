import type { FastifyInstance } from 'fastify';
import type { Transfers } from '#features/visits/transfers/follow-transfers.ts';

const transferTimeout = 25_000; // ms for running transfers
const requestTimeout = 2000; // ms for all other requests after that
const partsTimeout = 7000; // ms for everything else: all three together end before service managers kill the process

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

/** Disposes of the parts of the server. A database that hangs must not prevent the end: what it did not record is recovered at the next start. */
export async function endInTime(parts: AsyncDisposable): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, partsTimeout);
  await Promise.race([parts[Symbol.asyncDispose](), late.promise]);
  clearTimeout(timer);
}
