import { mayDownloadDirectly, signedAddressLifetime } from '#core/authorization/delivery.ts';
import type { ItemPath } from '#core/item-path.ts';
import type { Entry } from '#core/listing.ts';
import type { TransferEntry } from '#features/audit/visit-audit.ts';
import type { VisitEvent } from '#features/audit/visit-event.ts';
import { profileRules } from '#features/links/find-link.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import { withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Ports } from '#ports/ports.ts';
import type { Storage } from '#ports/storage.ts';

/** A file that the visitor downloads directly from its storage, at a signed address. */
export interface DirectDownload {
  readonly entry: Entry;
  /** Returns the address, which is valid for a minute. @param contentDisposition header of the response there */
  readonly signAddress: (contentDisposition: string) => Promise<string>;
  /** Commits the audit entry of the download. Must be called before the visitor gets the address. */
  readonly appendEntry: () => Promise<TransferEntry>;
}

/**
 * Prepares a direct download (`proxyMode: false`).
 * @returns null if Postern must send the file itself, or has to find out why it cannot be sent
 */
export async function openDirectDownload(
  ports: Pick<Ports, 'media' | 'clock'> & Pick<VisitServices, 'audit'>,
  { link, permit }: Pick<AuthorizedVisit, 'link' | 'permit'>,
  storage: Pick<Storage, 'stat' | 'signedAddress'>,
  path: ItemPath,
  event: Omit<VisitEvent, 'outcome'>,
): Promise<DirectDownload | null> {
  const { signedAddress } = storage;
  if (!signedAddress || link.proxy_mode === 1 || !mayDownloadDirectly(permit.share, profileRules(link), ports.clock.now())) return null;
  const entry = await withStorageErrors(() => storage.stat(path));
  if (!entry || entry.folder || entry.mayNeedRestore) return null;
  const contentType = ports.media.byName(entry.name);
  return {
    entry,
    signAddress: (contentDisposition) =>
      withStorageErrors(() => signedAddress(path, { contentType, contentDisposition }, signedAddressLifetime)),
    appendEntry: () => ports.audit.beginTransfer({ ...event, outcome: 'begun' }, entry.etag, link.alert_download === 1),
  };
}
