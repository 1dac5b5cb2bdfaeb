import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import type { ListingPage, ListingQuery } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import { type Approaching, enter, type VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import { guarded, storageFor } from '#features/visits/authorization/shared-storage.ts';
import type { WrittenPage } from './listing-json.ts';

/** A page as it is answered. */
export interface ListedFolder {
  /** Relative to the share. */
  readonly path: string;
  readonly page: WrittenPage;
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
  approaching: Approaching,
  path: ItemPath,
  query: ListingQuery,
  { left, sent }: { readonly left: AbortSignal; readonly sent: Promise<unknown> },
): Promise<ListedFolder> {
  const entered = await enter(ports, approaching, { request: 'list' });
  const { link, recognised } = entered;
  const written = async (found: ListingPage | null) => found && ports.writePage(approaching, found, ports.media);
  const page = await guarded(async () => {
    const shared = await storageFor(entered, ports);
    const place = shared.at(path);
    if (link.folder === 1) {
      const { viewId, address } = approaching;
      const request = { locationId: link.location_id, path: formatItemPath(place), query, viewId, address, left, sent };
      return ports.listings.page(request, async () => written(await shared.storage.page(place, query)));
    }
    const entry = await shared.storage.stat(place);
    return written(entry && !entry.folder ? { entries: query.startIndex === 0 ? [entry] : [], total: 1 } : null);
  });
  if (!page) throw new Refusal('itemAbsent');
  ports.trail.note({
    link,
    visitor: recognised?.signedIn ?? null,
    approaching,
    action: 'list',
    outcome: 'done',
    path: formatItemPath(path),
  });
  return { path: formatItemPath(path), page, startIndex: query.startIndex, pageSize: query.pageSize };
}
