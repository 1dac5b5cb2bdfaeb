import { isDropBox } from '#core/authorization/share-rules.ts';
import { narrowNetworkOf, wideNetworkOf } from '#core/client-networks.ts';
import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { checkStoreSpace } from '#features/health/check-store-space.ts';
import { checkQuota } from '#features/quotas/check-quota.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import { type AuthorizationPorts, authorizeVisit, type VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import { newChangeToken } from '#features/visits/files/pending-change.ts';
import { checkUploadTarget } from '#features/visits/files/upload-target.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { deleteUploadRow, ifNameTaken, ownerKey, type UploadRow } from './upload-rows.ts';

const idBits = 192;
/** Maximum number of unfinished uploads at one link: in total, from one network, and from one wide network. */
const maxUnfinished = { link: 1000, network: 200, wide: 400 };
/** Time in ms after which an upload without a byte ends, so that nobody can use up the uploads of a link for a day. */
const emptyLifetime = 15 * 60_000;
const retryAfter = 60; // seconds

/** A file that a visitor wants to send in parts. */
export interface AnnouncedFile {
  /** Path in the share, with the name of the file. */
  readonly path: ItemPath;
  /** Bytes. */
  readonly size: number;
  /** The Upload-Metadata of the client. */
  readonly metadata: string;
}

/** A new upload. */
export interface NewUpload {
  readonly id: string;
  /** ms since the epoch */
  readonly expiresAt: number;
}

/** @throws Refusal (503) if the link or the network has too many unfinished uploads */
async function checkUnfinished(tx: Tx, { tid, share_id: shareId, network, wide_network: wide }: UploadRow, now: number): Promise<void> {
  const counts = await tx
    .selectFrom('resumable_upload')
    .select(({ fn, ref }) => [
      fn.countAll<number | string>().as('link'),
      fn.count<number | string>(ref('id')).filterWhere('network', '=', network).as('network'),
      fn.count<number | string>(ref('id')).filterWhere('wide_network', '=', wide).as('wide'),
    ])
    .where('tid', '=', tid)
    .where('share_id', '=', shareId)
    .where('stored_name', 'is', null)
    .where(({ or, eb: compare }) => or([compare('expires_at', '>', now), compare('holder', 'is not', null)]))
    .executeTakeFirstOrThrow();
  for (const group of ['link', 'network', 'wide'] as const)
    if (Number(counts[group]) >= maxUnfinished[group])
      throw new Refusal(
        'uploadsBusy',
        'Too many uploads at this link are unfinished, in total or from your network. Finish or delete some first.',
        {
          retryAfter,
        },
      );
}

/**
 * Begins an upload in parts. No byte of the file is received yet.
 * @throws Refusal (403, 404, 409, 413, 503, 507)
 */
export async function createUpload(
  ports: AuthorizationPorts & StoragePorts & Pick<Ports, 'random' | 'limits'>,
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
    await checkUploadTarget(shared, parent, shared.locationPath(path), null, { dropBox, nested: path.length > 1 });
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
        expires_at: now + emptyLifetime,
      },
    };
    // The row comes first: the sweep deletes a staging file that has no row.
    await ports.store.write(async (tx) => {
      await checkUnfinished(tx, row, now);
      await checkQuota(tx, link, { bytes: size, files: 1 }, now);
      await tx.insertInto('resumable_upload').values(row).execute();
    }, visitorTurn(visitorRequest.address));
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
