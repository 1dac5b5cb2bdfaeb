import { Refusal } from '#core/messages.ts';
import { findRunningProcesses } from '#features/processes/running-processes.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Ports } from '#ports/ports.ts';

/** How many changes of a location may wait for recovery, each run of which tries them all. A link may take half of what others leave. */
const maxPending = 200;
const retryAfter = 60; // seconds

const pendingRefusal = () =>
  new Refusal('storageAway', 'Too many earlier changes of this storage could not be completed. Try again later.', { retryAfter });

/**
 * Checks that a link may have one more pending change at its location. A service that lets every change fail could otherwise fill the
 * database. Changes that are still being made do not count: a client may send an upload for hours. Concurrent checks may exceed the limit a
 * little.
 * @throws Refusal (503)
 */
export async function checkPendingChanges(
  ports: Pick<Ports, 'store' | 'process'> & Pick<VisitServices, 'runningChanges'>,
  { tid, location_id: locationId, id: shareId }: Pick<AuthorizedVisit['link'], 'tid' | 'location_id' | 'id'>,
): Promise<void> {
  const pending = ports.store.read.selectFrom('unsettled').where('unsettled.tid', '=', tid).where('unsettled.location_id', '=', locationId);
  const isNear = await pending
    .select('token')
    .offset(maxPending / 2 - 1)
    .limit(1)
    .executeTakeFirst();
  if (!isNear) return;
  const otherProcesses = (await findRunningProcesses(ports)).filter((process) => process !== ports.process);
  const { runningChanges } = ports;
  const rows = await pending
    .innerJoin('audit', (join) => join.onRef('audit.tid', '=', 'unsettled.tid').onRef('audit.id', '=', 'unsettled.audit_id'))
    .select(['unsettled.token', 'audit.share_id'])
    .$if(otherProcesses.length > 0, (query) => query.where('unsettled.process', 'not in', otherProcesses))
    .limit(maxPending + runningChanges.size)
    .execute();
  const waiting = rows.filter(({ token }) => !runningChanges.has(token));
  const ownCount = waiting.filter(({ share_id }) => share_id === shareId).length;
  const otherCount = waiting.length - ownCount;
  if (ownCount >= (maxPending - otherCount) / 2) throw pendingRefusal();
}
