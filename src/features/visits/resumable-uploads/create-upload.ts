import { isDropBox } from '#core/authorization/share-rules.ts';
import { narrowNetworkOf, wideNetworkOf } from '#core/client-networks.ts';
import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { checkStoreSpace } from '#features/health/check-store-space.ts';
import { checkQuota } from '#features/quotas/check-quota.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import { type AuthorizationPorts, authorizeVisit, type VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import { type SharedStorage, type StoragePorts, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import { newChangeToken } from '#features/visits/files/pending-change.ts';
import { checkUploadTarget } from '#features/visits/files/upload-target.ts';
import type { Ports } from '#ports/ports.ts';
import { checkUnfinished, type DeletedUpload } from './unfinished-limits.ts';
import { deleteUploadRow, evidenceOf, ifNameTaken, ownerKey, type UploadRow, uploadEnd } from './upload-rows.ts';

const idBits = 192;

/** A file that a visitor wants to send in parts. */
export interface AnnouncedFile {
  /** Path in the share, with the name of the file. */
  readonly path: ItemPath;
  /** Bytes. */
  readonly size: number;
  /** The Upload-Metadata of the client. */
  readonly metadata: string;
}

export interface NewUpload {
  readonly id: string;
  /** ms since the epoch */
  readonly expiresAt: number;
}

/**
 * Deletes the staging file of an upload whose row was deleted in favor of a new upload: no quota counts the file any more. If that fails,
 * or if the file is at another location, the sweep deletes it.
 */
async function deleteStagingFile(
  { uploadHashes }: Pick<VisitServices, 'uploadHashes'>,
  storage: SharedStorage<'upload'>['storage'],
  newUpload: UploadRow,
  deletedUpload: DeletedUpload,
): Promise<void> {
  uploadHashes.forget(deletedUpload.id);
  const evidence = evidenceOf(deletedUpload);
  if (!evidence || deletedUpload.location_id !== newUpload.location_id) return;
  await storage.clearEvidence(evidence).catch(() => {});
}

/**
 * Begins an upload in parts. No byte of the file is received yet.
 * @throws Refusal as `authorizeVisit` and `withStorageErrors`; (403, 404, 409, 413, 503, 507); StoreFull
 */
export async function createUpload(
  ports: AuthorizationPorts & StoragePorts & Pick<Ports, 'random' | 'limits'> & Pick<VisitServices, 'uploadHashes'>,
  visitorRequest: VisitorRequest,
  { path, size, metadata }: AnnouncedFile,
): Promise<NewUpload> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'upload' });
  const { link, permit } = visit;
  const { maxFileSize, minFreeSpace } = ports.limits;
  if (size > maxFileSize) throw new Refusal('fileTooLarge', `Files of at most ${maxFileSize} bytes are accepted.`);
  return withStorageErrors(async () => {
    const shared = await storageFor(visit, ports);
    if (!shared.storage.continueUpload)
      throw new Refusal('changeImpossible', 'This storage cannot continue an upload: send the entire file with PUT.');
    const { parent, name } = shared.directoryEntry(path);
    const dropBox = isDropBox(permit.share);
    await checkUploadTarget(shared, parent, shared.locationPath(path), null, { dropBox, nested: path.length > 1, now: ports.clock.now() });
    checkStoreSpace(ports.store, minFreeSpace);
    const now = ports.clock.now();
    const row: UploadRow = {
      id: ports.random.token(idBits),
      tid: link.tid,
      share_id: link.id,
      location_id: link.location_id,
      identity_key: ownerKey(visit),
      visitor: visit.authenticated?.signedIn.name ?? '',
      network: narrowNetworkOf(visitorRequest.address),
      wide_network: wideNetworkOf(visitorRequest.address),
      path: formatItemPath(path),
      location_path: formatItemPath(shared.locationPath(path)),
      drop_box: dropBox ? 1 : 0,
      ...{
        size,
        received: 0,
        token: newChangeToken(ports),
        handle: null,
        metadata,
        holder: null,
        stored_name: null,
        sha256: null,
        expires_at: uploadEnd(0, now),
      },
    };
    // The row comes first: the sweep deletes a staging file that has no row.
    const deletedUploads = await ports.store.write(async (tx) => {
      const deleted = await checkUnfinished(tx, row, now);
      await checkQuota(tx, link, { bytes: size, files: 1 }, now);
      await tx.insertInto('resumable_upload').values(row).execute();
      return deleted;
    }, visitorTurn(visitorRequest.address));
    for (const upload of deletedUploads) await deleteStagingFile(ports, shared.storage, row, upload);
    try {
      const upload = await shared.storage.upload({ parent, name, size, ifTaken: ifNameTaken(row) }, row.token);
      await upload.closeForRecovery();
      const { handle } = upload;
      if (handle !== null)
        await ports.store.write(
          (tx) => tx.updateTable('resumable_upload').set({ handle }).where('tid', '=', row.tid).where('id', '=', row.id).execute(),
          'job',
        );
    } catch (cause) {
      await deleteUploadRow(ports, row);
      throw cause;
    }
    return { id: row.id, expiresAt: row.expires_at };
  });
}
