import { parseStoredPath, rootPath, splitPath } from '#core/item-path.ts';
import { findRunningProcesses } from '#features/processes/running-processes.ts';
import { openLocation } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import { deleteUploadRow, isBeingPlaced, isFree } from './upload-rows.ts';
import type { UploadWriters } from './upload-writers.ts';

const maxUploads = 1000; // in one run
/** A part that another process began to receive before its upload expired may still arrive for this time; ms. */
const gracePeriod = 3_600_000;

/**
 * Deletes the received bytes of expired uploads in parts, and their rows. If a location is
 * unavailable, the next run tries again. After a week, the row is deleted in any case
 * (features/jobs/delete-expired-rows.ts).
 */
export async function endExpiredUploads(
  ports: Pick<Ports, 'store' | 'storages' | 'vault' | 'clock' | 'process'>,
  uploadWriters: UploadWriters,
): Promise<void> {
  const { store, storages, vault, clock, process } = ports;
  const running = await findRunningProcesses(ports);
  const rows = await store.read
    .selectFrom('resumable_upload')
    .innerJoin('location', (join) =>
      join.onRef('location.tid', '=', 'resumable_upload.tid').onRef('location.id', '=', 'resumable_upload.location_id'),
    )
    .selectAll('location')
    .select(['resumable_upload.id as upload_id', 'location_path', 'token', 'handle'])
    .where('stored_name', 'is', null)
    .where('expires_at', '<', clock.now() - gracePeriod)
    .where(isFree(process, running))
    .limit(maxUploads)
    .execute();
  for (const { upload_id: id, location_path: path, token, handle, ...location } of rows) {
    const entry = splitPath(parseStoredPath(path) ?? rootPath);
    if (!entry) continue;
    const end = async () => {
      if (await isBeingPlaced(store.read, location.tid, token)) return; // recovery needs what would be deleted
      const storage = await openLocation(location, { storages, vault });
      await storage.clearEvidence({ action: 'upload', ...entry, newName: '', token, handle });
      await deleteUploadRow(ports, { tid: location.tid, id });
    };
    await uploadWriters.runWithoutParts(id, end).catch(() => {}); // the next run tries again
  }
}
