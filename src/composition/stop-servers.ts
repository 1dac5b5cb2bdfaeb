import type { FastifyInstance } from 'fastify';
import type { Transfers } from '#features/visits/transfers/follow-transfers.ts';

const transferTimeout = 25_000; // ms for running transfers
const requestTimeout = 2000; // ms for all other requests after that
// ms for everything else. Service managers kill the process after 40 s: the sum of the three, and the second that `drain` adds, must be
// shorter.
const partsTimeout = 7000;

/** Stops servers: they accept no new connection, and running transfers and requests get time to end. */
export async function stopServers(servers: readonly FastifyInstance[], transfers: Pick<Transfers, 'drain'>): Promise<void> {
  const closing = Promise.all(servers.map((server) => server.close()));
  await transfers.drain(transferTimeout);
  const timer = setTimeout(() => {
    for (const { server } of servers) server.closeAllConnections();
  }, requestTimeout);
  await closing;
  clearTimeout(timer);
}

/**
 * Disposes of the parts of the server, for a limited time: a database that hangs must not keep the process running. The next start, or
 * another process, recovers the changes whose outcome is not recorded.
 */
export async function disposeInTime(parts: AsyncDisposable): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, partsTimeout);
  await Promise.race([parts[Symbol.asyncDispose](), timeout.promise]);
  clearTimeout(timer);
}
