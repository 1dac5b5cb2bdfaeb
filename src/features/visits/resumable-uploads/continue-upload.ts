import { Refusal } from '#core/messages.ts';
import {
  type AuthorizationPorts,
  type AuthorizedVisit,
  authorizeVisit,
  type VisitorRequest,
} from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { ChangePorts } from '#features/visits/files/pending-change.ts';
import { respondInTime } from '#features/visits/files/respond-in-time.ts';
import type { StoredFile } from '#features/visits/files/upload-file.ts';
import { ItemNotFound } from '#ports/storage-errors.ts';
import { claimConfirmation } from './claim-confirmation.ts';
import { type IncomingPart, PartReceiver, partTooLong } from './part-receiver.ts';
import { claimUpload, releaseUpload } from './upload-claims.ts';
import { findUnfinishedUpload, ifNameTaken, pathOfUpload, type UploadRow, uploadEnd } from './upload-rows.ts';
import type { WriterReport } from './upload-writers.ts';

export interface UploadState {
  /** Durable bytes. */
  readonly received: number;
  /** ms since the epoch */
  readonly expiresAt: number;
  /** The complete file; null: bytes are missing. */
  readonly stored: StoredFile | null;
}

type UploadPorts = AuthorizationPorts & StoragePorts & ChangePorts & Pick<VisitServices, 'uploads' | 'uploadWriters' | 'uploadHashes'>;

/**
 * Receives a part of an upload. After the last one, the file becomes visible. Returns after the storage has made the part durable.
 * @throws Refusal as `authorizeVisit` and `withStorageErrors`; (403, 404, 409, 410, 413, 423, 460, 503, 507)
 */
export async function continueUpload(
  ports: UploadPorts,
  visitorRequest: VisitorRequest,
  id: string,
  part: IncomingPart,
): Promise<UploadState> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'upload' });
  const row = await findUnfinishedUpload(ports, visit, id);
  const partReceived = Promise.withResolvers<void>();
  const receiving = ports.uploadWriters.run(id, part.abort, async (report) => {
    const release = ports.uploads.take(visitorRequest.address, visitorRequest.viewId, part.abort);
    try {
      return await withStorageErrors(() => receivePart(ports, visit, row, part, report, partReceived.resolve));
    } finally {
      release();
    }
  });
  await Promise.race([receiving, partReceived.promise]); // the sender may take as long as it needs
  return respondInTime(receiving, ports.limits.maxChangeTime);
}

async function receivePart(
  ports: UploadPorts,
  visit: AuthorizedVisit<'upload'>,
  unclaimed: UploadRow,
  part: IncomingPart,
  report: WriterReport,
  onReceived: () => void,
): Promise<UploadState> {
  const row = await claimUpload(ports, visit, unclaimed);
  try {
    if (part.offset !== row.received) throw new Refusal('uploadOffsetWrong', `The upload continues at offset ${row.received}.`);
    if (part.offset + (part.length ?? 0) > row.size) throw partTooLong(row.size);
    const shared = await storageFor(visit, ports);
    const { continueUpload: reopen } = shared.storage;
    if (!reopen) throw new Refusal('uploadUnknown'); // the location was changed
    const path = pathOfUpload(row);
    const place = { path, ...shared.directoryEntry(path) };
    const target = { ...place, size: row.size, ifTaken: ifNameTaken(row) } as const;
    const { token, handle, received: offset } = row;
    const upload = await reopen(target, { token, handle, offset, confirm: claimConfirmation(ports, row) }).catch((cause: unknown) => {
      // The row stays: if the location leads to another folder by mistake, the upload continues when that is corrected.
      throw cause instanceof ItemNotFound ? new Refusal('uploadUnknown') : cause;
    });
    const receiver = new PartReceiver({ ports, visit, storage: shared.storage, row, place, upload }, part);
    try {
      const progress = await receiver.receive(report, onReceived);
      return {
        ...progress,
        expiresAt: progress.received > row.received ? uploadEnd(progress.received, ports.clock.now()) : row.expires_at,
      };
    } finally {
      await receiver.close();
    }
  } finally {
    await releaseUpload(ports, row);
  }
}
