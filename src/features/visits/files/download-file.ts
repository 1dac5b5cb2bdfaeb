import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import type { Permit } from '#core/policy/decide.ts';
import { mustMark, refuseOriginal } from '#core/policy/delivery.ts';
import type { TransferEntry } from '#features/audit/visit-audit.ts';
import {
  type AuthorizedVisit,
  authorizeVisit,
  type VisitorRequest,
  type VisitPorts,
} from '#features/visits/authorization/authorize-visit.ts';
import { storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import { headBytes, type Media } from '#ports/media.ts';
import type { OpenFile } from '#ports/storage.ts';

/** A file that may leave as it is. */
export interface FileDownload {
  readonly file: OpenFile;
  /** Where a front server on this machine may read it itself; null: it may not, or cannot. */
  readonly onDisk: string | null;
  readonly mediaType: string;
  /** May it still leave, and still as it is? */
  readonly stillPermitted: () => Promise<boolean>;
  /** Commits the row of this action; before the first byte. */
  readonly appendEntry: () => Promise<TransferEntry>;
}

/** The first bytes of a file. */
export async function headOf(file: OpenFile): Promise<Uint8Array> {
  const head = new Uint8Array(Math.min(headBytes, file.entry.size));
  const read = await withStorageErrors(() => file.read(head, 0));
  return head.subarray(0, read);
}

/** What the file is by its bytes; null where nothing depends on it. */
async function mediaOf(file: OpenFile, permit: Permit, action: 'view' | 'download', ports: VisitPorts): Promise<Media | null> {
  const depends = action === 'view' || mustMark(permit.share) || permit.share.digitalSignature;
  return depends ? ports.media.byBytes(await headOf(file)) : null;
}

/**
 * May a file that is being sent still leave: by the permission, and in this form, as both are by now? One whose kind
 * was not looked at when it began may be a PDF, which has to be signed; no byte of it is read again.
 */
async function mayStillLeave(media: Media | null, { decideAgain }: AuthorizedVisit, action: 'view' | 'download'): Promise<boolean> {
  const permit = await decideAgain();
  return permit !== null && refuseOriginal(action, permit.share, media?.kind ?? 'pdf') === null;
}

/**
 * Opens a file for a visitor who may look at it or take it.
 * @throws 404, and the refusals of delivery: what would have to be marked or signed never leaves as it is
 */
export async function openDownload(
  ports: VisitPorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  action: 'view' | 'download',
): Promise<FileDownload> {
  const visit = await authorizeVisit(ports, visitorRequest, { action });
  const { link, permit, authenticated } = visit;
  const shared = await storageFor(visit, ports);
  const lies = shared.locationPath(path);
  const file = await withStorageErrors(() => shared.storage.open(lies));
  if (!file) throw new Refusal('itemAbsent');
  const told = { link, visitor: authenticated?.signedIn ?? null, visitorRequest, action, path: formatItemPath(path) } as const;
  try {
    const media = await mediaOf(file, permit, action, ports);
    const denial = refuseOriginal(action, permit.share, media?.kind ?? 'other');
    if (denial) {
      ports.audit.note({ ...told, outcome: 'refused', after: { because: denial } });
      throw new Refusal(denial);
    }
    const alert = action === 'view' ? link.alert_view : link.alert_download;
    return {
      file,
      // What is looked at carries a policy that a front server would not keep.
      onDisk: action === 'download' ? shared.storage.onDisk(lies) : null,
      mediaType: action === 'view' && media ? media.mediaType : ports.media.byName(file.entry.name),
      stillPermitted: () => mayStillLeave(media, visit, action),
      appendEntry: () => ports.audit.begin({ ...told, outcome: 'begun' }, file.entry.etag, alert === 1),
    };
  } catch (cause) {
    await file.close();
    throw cause;
  }
}
