import { findRunningProcesses } from '#features/processes/running-processes.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import { type AuthorizationPorts, authorizeVisit, type VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Ports } from '#ports/ports.ts';
import { findUnfinishedUpload, findUpload, isBeingPlaced, isFree, pathOfUpload, type UploadRow } from './upload-rows.ts';
import { uploadInUse } from './upload-writers.ts';

type UnfinishedPorts = AuthorizationPorts & Pick<Ports, 'process'> & Pick<VisitServices, 'uploadWriters' | 'uploadHashes'>;

/**
 * Returns an upload, which may be complete, with the number of its durable bytes. Ends a part whose client is silent.
 * @throws Refusal as `authorizeVisit`; (404)
 */
export async function readUpload(ports: UnfinishedPorts, visitorRequest: VisitorRequest, id: string): Promise<UploadRow> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'upload' });
  await findUpload(ports, visit, id); // checked first: another visitor must not end the part that is being received
  await ports.uploadWriters.endSilent(id);
  return findUpload(ports, visit, id);
}

/**
 * Ends an upload and deletes what has arrived.
 * @throws Refusal as `authorizeVisit`; (404, 410); (423) if its last bytes have just arrived, another process receives a part, or the part
 *   that this process receives does not end in time
 */
export async function deleteUpload(ports: UnfinishedPorts & StoragePorts, visitorRequest: VisitorRequest, id: string): Promise<void> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'upload' });
  const row = await findUnfinishedUpload(ports, visit, id);
  await ports.uploadWriters.end(id);
  const running = await findRunningProcesses(ports);
  const isDeleted = await ports.uploadWriters.runWithoutParts(id, () =>
    ports.store.write(async (tx) => {
      if (await isBeingPlaced(tx, row.tid, row.token)) throw uploadInUse();
      const [result] = await tx
        .deleteFrom('resumable_upload')
        .where('tid', '=', row.tid)
        .where('id', '=', id)
        .where('stored_name', 'is', null)
        .where(isFree(ports.process, running))
        .execute();
      return Number(result?.numDeletedRows) > 0;
    }, visitorTurn(visitorRequest.address)),
  );
  if (!isDeleted) {
    await findUnfinishedUpload(ports, visit, id); // throws if the upload was completed or deleted meanwhile
    throw uploadInUse();
  }
  ports.uploadHashes.forget(id);
  // A failure here does not change the response: the next sweep deletes a staging file that stays.
  await withStorageErrors(async () => {
    const { storage, directoryEntry } = await storageFor(visit, ports);
    await storage.clearEvidence({
      action: 'upload',
      ...directoryEntry(pathOfUpload(row)),
      newName: '',
      token: row.token,
      handle: row.handle,
    });
  }).catch(() => {});
}
