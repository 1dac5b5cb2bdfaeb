import { formatInstant } from '#core/instant.ts';
import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import type { Entry, ListingQuery } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import type { Listing } from '#core/records/visit.ts';
import type { MediaTypes } from '#ports/media.ts';
import { type Approaching, enter, type VisitPorts } from './enter.ts';
import { guarded, storageFor } from './shared-storage.ts';

const folderType = 'inode/directory';

const listed = ({ name, folder, size, modified, etag }: Entry, media: MediaTypes) => ({
  name,
  folder,
  size,
  modifiedDateTime: formatInstant(modified),
  mediaType: folder ? folderType : media.byName(name),
  etag: folder ? '' : etag,
});

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
): Promise<Listing> {
  const entered = await enter(ports, approaching, { request: 'list' });
  const { link, recognised } = entered;
  const page = await guarded(async () => {
    const shared = await storageFor(entered, ports);
    const place = shared.at(path);
    if (link.folder === 1) {
      const { viewId, address } = approaching;
      const request = { locationId: link.location_id, path: formatItemPath(place), query, viewId, address, left, sent };
      return ports.listings.page(request, () => shared.storage.page(place, query));
    }
    const entry = await shared.storage.stat(place);
    return entry && !entry.folder ? { entries: query.startIndex === 0 ? [entry] : [], total: 1 } : null;
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
  return {
    path: formatItemPath(path),
    entries: page.entries.map((entry) => listed(entry, ports.media)),
    startIndex: query.startIndex,
    pageSize: query.pageSize,
    resultCount: page.entries.length,
    totalCount: page.total,
  };
}
