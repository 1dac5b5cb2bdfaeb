import type { Permit } from '#core/authorization/decide.ts';
import { findDeliveryDenial, requiresWatermark } from '#core/authorization/delivery.ts';
import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import type { TransferEntry } from '#features/audit/visit-audit.ts';
import {
  type AuthorizationPorts,
  type AuthorizedVisit,
  authorizeVisit,
  type VisitorRequest,
} from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import { headBytes, type Media } from '#ports/media.ts';
import type { Ports } from '#ports/ports.ts';
import type { ByteRange, OpenFile } from '#ports/storage.ts';
import { ItemChanged } from '#ports/storage-errors.ts';
import { type DirectDownload, openDirectDownload } from './direct-download.ts';
import { readRange } from './read-range.ts';

/** A file that may be sent as it is, without watermarks and signatures. */
export interface FileDownload {
  readonly file: OpenFile;
  /** Path on disk from which a reverse proxy on this machine may send the file; null: Postern must send it. */
  readonly onDisk: string | null;
  readonly mediaType: string;
  /** Returns whether the file may still be sent, without a watermark or signature. */
  readonly stillPermitted: () => Promise<boolean>;
  /** Commits the audit entry of this action. Must be called before the first byte is sent. */
  readonly appendEntry: () => Promise<TransferEntry>;
}

/** Opens or reads a file. @throws Refusal (503) if the file changes meanwhile; otherwise as `withStorageErrors` */
export const withReadErrors = <T>(read: () => Promise<T>): Promise<T> =>
  withStorageErrors(async () => {
    try {
      return await read();
    } catch (cause) {
      if (cause instanceof ItemChanged) throw new Refusal('storageAway', 'The file was changed while it was read. Try again.');
      throw cause;
    }
  });

export const readHead = (file: OpenFile): Promise<Uint8Array> =>
  withReadErrors(() => readRange(file, { start: 0, end: Math.min(headBytes, file.entry.size) - 1 }));

/** Returns the bytes of a small range. @throws Refusal as `withReadErrors` */
export const readSmallRange = (file: OpenFile, range: ByteRange): Promise<Uint8Array> => withReadErrors(() => readRange(file, range));

/** Returns the media type of a file from its first bytes, or null if no decision depends on it. */
async function mediaOf(file: OpenFile, permit: Permit, action: 'view' | 'download', ports: Pick<Ports, 'media'>): Promise<Media | null> {
  const isNeeded = action === 'view' || requiresWatermark(permit.share) || permit.share.digitalSignature;
  return isNeeded ? ports.media.byBytes(await readHead(file)) : null;
}

/**
 * Returns whether a file may still be sent: whether the action is still permitted, and the file still needs no watermark and no
 * signature. If its media type was not read at the start, assumes a PDF, which may have to be signed; reads no byte again.
 */
async function isStillPermitted(media: Media | null, { decideAgain }: AuthorizedVisit, action: 'view' | 'download'): Promise<boolean> {
  const permit = await decideAgain();
  return permit !== null && findDeliveryDenial(action, permit.share, media?.kind ?? 'pdf') === null;
}

/**
 * Opens a file for a visitor to view or download.
 * @param mayRedirect whether the visitor may be sent to the storage, if the share allows it
 * @throws Refusal as `authorizeVisit` and `withReadErrors`; (404) if the file does not exist; with the denial that `findDeliveryDenial`
 *   returns
 */
export async function openDownload(
  ports: AuthorizationPorts & StoragePorts & Pick<Ports, 'media'>,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  action: 'view' | 'download',
  mayRedirect: boolean,
): Promise<FileDownload | DirectDownload> {
  const visit = await authorizeVisit(ports, visitorRequest, { action });
  const { link, permit, authenticated } = visit;
  const shared = await storageFor(visit, ports);
  const locationPath = shared.locationPath(path);
  const event = { link, visitor: authenticated?.signedIn ?? null, visitorRequest, action, path: formatItemPath(path) } as const;
  const direct = mayRedirect ? await openDirectDownload(ports, visit, shared.storage, locationPath, event) : null;
  if (direct) return direct;
  const file = await withReadErrors(() => shared.storage.open(locationPath));
  if (!file) throw new Refusal('itemAbsent');
  try {
    const media = await mediaOf(file, permit, action, ports);
    const denial = findDeliveryDenial(action, permit.share, media?.kind ?? 'other');
    if (denial) {
      ports.audit.recordInBackground({ ...event, outcome: 'refused', after: { because: denial } });
      throw new Refusal(denial);
    }
    const alert = action === 'view' ? link.alert_view : link.alert_download;
    return {
      file,
      onDisk: action === 'download' ? await shared.storage.pathOnDisk(locationPath) : null,
      mediaType: action === 'view' && media ? media.mediaType : ports.media.byName(file.entry.name),
      stillPermitted: () => isStillPermitted(media, visit, action),
      appendEntry: () => ports.audit.beginTransfer({ ...event, outcome: 'begun' }, file.entry.etag, alert === 1),
    };
  } catch (cause) {
    await file.close();
    throw cause;
  }
}
