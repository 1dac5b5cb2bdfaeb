import { Refusal } from '#core/messages.ts';
import { findRunningProcesses } from '#features/processes/running-processes.ts';
import { findStorageLocation, openLocation } from '#features/storage-access/open-location.ts';
import { BusyLocations } from '#features/visits/files/busy-locations.ts';
import { forEachLocation } from '#features/visits/files/for-each-location.ts';
import type { Ports } from '#ports/ports.ts';
import type { StorageLocation } from '#ports/storages.ts';
import { deleteUploadRow, evidenceOf, isBeingPlaced, isFree, type UploadRow } from './upload-rows.ts';
import type { UploadWriters } from './upload-writers.ts';

const pageSize = 1000; // uploads
/** Time in ms to wait after an upload has expired: another process may still be receiving a part that began before. */
const gracePeriod = 3_600_000;

type EndPorts = Pick<Ports, 'store' | 'storages' | 'vault' | 'clock' | 'process'>;

/** Selects the unfinished uploads that have expired for the grace period, and of which no other running process receives a part. */
const expiredUploads = ({ store, clock, process }: EndPorts, running: readonly string[]) =>
  store.read
    .selectFrom('resumable_upload')
    .where('stored_name', 'is', null)
    .where('expires_at', '<', clock.now() - gracePeriod)
    .where(isFree(process, running));

async function endUpload(
  ports: EndPorts,
  location: StorageLocation,
  upload: Pick<UploadRow, 'id' | 'location_path' | 'token' | 'handle'>,
): Promise<void> {
  const evidence = evidenceOf(upload);
  if (!evidence || (await isBeingPlaced(ports.store.read, location.tid, upload.token))) return; // recovery may need the file being placed
  const storage = await openLocation(location, ports);
  await storage.clearEvidence(evidence);
  await deleteUploadRow(ports, { tid: location.tid, id: upload.id });
}

/** Yields the expired uploads at a location, the oldest first. */
async function* expiredUploadsAt(ports: EndPorts, running: readonly string[], tid: number, locationId: number) {
  let last = { expires_at: 0, id: '' };
  for (;;) {
    const uploads = await expiredUploads(ports, running)
      .select(['id', 'location_path', 'token', 'handle', 'expires_at'])
      .where('tid', '=', tid)
      .where('location_id', '=', locationId)
      .where(({ eb, refTuple, tuple }) => eb(refTuple('expires_at', 'id'), '>', tuple(last.expires_at, last.id)))
      .orderBy('expires_at')
      .orderBy('id')
      .limit(pageSize)
      .execute();
    yield* uploads;
    last = uploads.at(-1) ?? last;
    if (uploads.length < pageSize) return;
  }
}

/** Deletes the received bytes of the expired uploads at a location, and their rows, until a deletion fails. */
async function endUploadsAt(
  ports: EndPorts,
  running: readonly string[],
  { tid, location_id: id }: Pick<UploadRow, 'tid' | 'location_id'>,
  uploadWriters: UploadWriters,
): Promise<void> {
  const location = await findStorageLocation(ports.store.read, { tid, id });
  if (!location) return; // it was deleted
  for await (const upload of expiredUploadsAt(ports, running, tid, id))
    try {
      await uploadWriters.runWithoutParts(upload.id, () => endUpload(ports, location, upload));
    } catch (cause) {
      // The location is unavailable, and its other uploads would wait for it, too: the next run tries again.
      if (!(cause instanceof Refusal)) return; // after a refusal, continues: a part of this upload is being received
    }
}

/**
 * Deletes the received bytes of expired resumable uploads, and their rows. If a location is
 * unavailable, the next run tries again. After a week, the row is deleted in any case
 * (features/jobs/delete-expired-rows.ts).
 * @param busyLocations the locations that this run skips, because earlier runs may still be deleting uploads there
 */
export async function endExpiredUploads(
  ports: EndPorts,
  uploadWriters: UploadWriters,
  busyLocations: BusyLocations = new BusyLocations(),
): Promise<void> {
  const running = await findRunningProcesses(ports);
  const locations = await expiredUploads(ports, running).select(['tid', 'location_id']).distinct().execute();
  await forEachLocation(locations, (location) =>
    busyLocations.runUnlessBusy(location.tid, location.location_id, () => endUploadsAt(ports, running, location, uploadWriters)),
  );
}
