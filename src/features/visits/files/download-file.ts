import type { Permit } from '#core/authorization/decide.ts';
import { deliver, requiresWatermark } from '#core/authorization/delivery.ts';
import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import type { TransferEntry } from '#features/audit/visit-audit.ts';
import {
  type AuthorizationPorts,
  type AuthorizedVisit,
  authorizeVisit,
  type VisitorRequest,
} from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor } from '#features/visits/authorization/shared-storage.ts';
import type { Media } from '#ports/media.ts';
import type { Ports } from '#ports/ports.ts';
import type { OpenFile } from '#ports/storage.ts';
import { type DirectDownload, openDirectDownload } from './direct-download.ts';
import { readHead, withReadErrors } from './open-file.ts';

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

/** A file that may be sent only as a new file, with a watermark or a signature (see `newFile` in draw-pages.ts). */
export interface NewFileNeeded {
  readonly newFileNeeded: true;
  readonly name: string;
  readonly mediaType: string;
}

/** Returns the media type of a file from its first bytes, or null if no decision depends on it. */
async function mediaOf(file: OpenFile, permit: Permit, action: 'view' | 'download', ports: Pick<Ports, 'media'>): Promise<Media | null> {
  const isNeeded = action === 'view' || requiresWatermark(permit.share) || permit.share.digitalSignature;
  return isNeeded ? ports.media.byBytes(await readHead(file)) : null;
}

/**
 * Returns whether a file may still be sent: whether the action is still permitted, and the file still needs no watermark and no
 * signature. If the media type was not read at the start, assumes a PDF, which may have to be signed. Does not read the file again.
 */
async function isStillPermitted(media: Media | null, { decideAgain }: AuthorizedVisit, action: 'view' | 'download'): Promise<boolean> {
  const permit = await decideAgain();
  if (!permit) return false;
  const delivery = deliver(action, permit.share, media?.kind ?? 'pdf');
  return 'form' in delivery && delivery.form === 'original';
}

/**
 * Opens a file for a visitor to view or download.
 * @param mayRedirect whether the visitor may be sent to the storage, if the share allows it
 * @throws Refusal as `authorizeVisit` and `withReadErrors`; 404 if the file does not exist; the denial, if `deliver` returns one
 */
export async function openDownload(
  ports: AuthorizationPorts & StoragePorts & Pick<Ports, 'media'>,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  action: 'view' | 'download',
  mayRedirect: boolean,
): Promise<FileDownload | DirectDownload | NewFileNeeded> {
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
    const delivery = deliver(action, permit.share, media?.kind ?? 'other');
    if ('denial' in delivery) {
      ports.audit.recordInBackground({ ...event, outcome: 'refused', after: { because: delivery.denial } });
      throw new Refusal(delivery.denial);
    }
    if (delivery.form !== 'original') {
      await file.close();
      return { newFileNeeded: true, name: file.entry.name, mediaType: media?.mediaType ?? ports.media.byName(file.entry.name) };
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
