import { Refusal } from '#core/messages.ts';
import { findRunningProcesses } from '#features/processes/running-processes.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Ports } from '#ports/ports.ts';

/** Maximum number of changes at a location that wait for recovery: each run of recovery tries all of them. */
const maxPending = 200;
const retryAfter = 60; // seconds

const pendingRefusal = () =>
  new Refusal('storageAway', 'Too many earlier changes of this storage could not be completed. Try again later.', { retryAfter });

/**
 * Checks that a location may have one more pending change. A service that lets every change fail could otherwise fill the database.
 * Changes that are still being made do not count: a client may send an upload for hours. Concurrent checks may exceed the limit a little.
 * @throws Refusal (503)
 */
export async function checkPendingChanges(
  ports: Pick<Ports, 'store' | 'process'> & Pick<VisitServices, 'runningChanges'>,
  { tid, location_id: locationId }: Pick<AuthorizedVisit['link'], 'tid' | 'location_id'>,
): Promise<void> {
  const pending = ports.store.read.selectFrom('unsettled').select('token').where('tid', '=', tid).where('location_id', '=', locationId);
  const last = await pending
    .offset(maxPending - 1)
    .limit(1)
    .executeTakeFirst();
  if (!last) return;
  const otherProcesses = (await findRunningProcesses(ports)).filter((process) => process !== ports.process);
  const { runningChanges } = ports;
  const rows = await pending
    .$if(otherProcesses.length > 0, (query) => query.where('process', 'not in', otherProcesses))
    .limit(maxPending + runningChanges.size)
    .execute();
  if (rows.filter(({ token }) => !runningChanges.has(token)).length >= maxPending) throw pendingRefusal();
}
