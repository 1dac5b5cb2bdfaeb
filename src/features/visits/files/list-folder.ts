import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import type { ListingPage, ListingQuery } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import { authorizeVisit, type VisitorRequest, type VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import { storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { ListingJson } from './listing-json.ts';

/** A page as it is answered. */
export interface FolderListing {
  /** Relative to the share. */
  readonly path: string;
  readonly page: ListingJson;
  readonly startIndex: number;
  readonly pageSize: number;
}

/**
 * A page of a folder; a share of one file lists that file.
 * @param left aborted when the visitor leaves before the answer
 * @param sent resolves when the answer has gone
 */
export async function listFolder(
  ports: VisitPorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  query: ListingQuery,
  { left, sent }: { readonly left: AbortSignal; readonly sent: Promise<unknown> },
): Promise<FolderListing> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'list' });
  const { link, authenticated } = visit;
  const written = async (found: ListingPage | null) => found && ports.writePage(visitorRequest, found, ports.media);
  const page = await withStorageErrors(async () => {
    const shared = await storageFor(visit, ports);
    const place = shared.locationPath(path);
    if (link.folder === 1) {
      const { viewId, address } = visitorRequest;
      const request = { locationId: link.location_id, path: formatItemPath(place), query, viewId, address, left, sent };
      return ports.listings.page(request, async () => written(await shared.storage.page(place, query)));
    }
    const entry = await shared.storage.stat(place);
    return written(entry && !entry.folder ? { entries: query.startIndex === 0 ? [entry] : [], total: 1 } : null);
  });
  if (!page) throw new Refusal('itemAbsent');
  ports.audit.note({
    link,
    visitor: authenticated?.signedIn ?? null,
    visitorRequest,
    action: 'list',
    outcome: 'done',
    path: formatItemPath(path),
  });
  return { path: formatItemPath(path), page, startIndex: query.startIndex, pageSize: query.pageSize };
}
