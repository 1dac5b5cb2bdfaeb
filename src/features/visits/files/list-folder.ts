import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import type { ListingPage, ListingQuery } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import { type AuthorizationPorts, authorizeVisit, type VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Ports } from '#ports/ports.ts';
import type { ListingJson } from './listing-json.ts';

/** A page of a folder, as the response holds it. */
export interface FolderListing {
  /** Relative to the share. */
  readonly path: string;
  readonly page: ListingJson;
  readonly startIndex: number;
  readonly pageSize: number;
}

type ListPorts = AuthorizationPorts & StoragePorts & Pick<Ports, 'media'> & Pick<VisitServices, 'listings' | 'formatListing'>;

/**
 * Returns a page of a folder. For a share of one file, the page lists that file.
 * @param clientGone aborted when the visitor leaves before the response
 * @param responseEnd resolves when the response was sent or the visitor has left
 */
export async function listFolder(
  ports: ListPorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  query: ListingQuery,
  { clientGone, responseEnd }: { readonly clientGone: AbortSignal; readonly responseEnd: Promise<unknown> },
): Promise<FolderListing> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'list' });
  const { link, authenticated } = visit;
  const toJson = async (listingPage: ListingPage | null) => {
    using _memory = listingPage?.memory; // pages that wait for their formatting take memory
    return listingPage && (await ports.formatListing(visitorRequest, listingPage, ports.media));
  };
  const page = await withStorageErrors(async () => {
    const shared = await storageFor(visit, ports);
    const locationPath = shared.locationPath(path);
    if (link.folder === 1) {
      const { viewId, address } = visitorRequest;
      const request = { locationId: link.location_id, path: formatItemPath(locationPath), query, viewId, address, clientGone, responseEnd };
      return ports.listings.page(request, async () => toJson(await shared.storage.page(locationPath, query)));
    }
    const entry = await shared.storage.stat(locationPath);
    return toJson(entry && !entry.folder ? { entries: query.startIndex === 0 ? [entry] : [], total: 1 } : null);
  });
  if (!page) throw new Refusal('itemAbsent');
  ports.audit.recordInBackground({
    link,
    visitor: authenticated?.signedIn ?? null,
    visitorRequest,
    action: 'list',
    outcome: 'done',
    path: formatItemPath(path),
  });
  return { path: formatItemPath(path), page, startIndex: query.startIndex, pageSize: query.pageSize };
}
