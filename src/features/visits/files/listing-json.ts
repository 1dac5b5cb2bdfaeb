import { formatInstant } from '#core/instant.ts';
import type { Entry, ListingPage } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import { runWithRest, turns } from '#features/turns/turns.ts';
import { type TurnVisitor, wideNetworkOf } from '#features/turns/visitor-turns.ts';
import type { MediaTypes } from '#ports/media.ts';

const writtenAtOnce = 1000; // entries: some ms
const mostWaiting = { inner: 512, all: 2048 };
const folderType = 'inode/directory';

/** A page of a folder, its entries as JSON: the same bytes for all who asked for it together. */
export interface ListingJson {
  readonly entries: Buffer;
  readonly count: number;
  /** Entries of the whole folder. */
  readonly total: number;
}

const listed = ({ name, folder, size, modified, etag }: Entry, media: MediaTypes) => ({
  name,
  folder,
  size,
  modifiedDateTime: formatInstant(modified),
  mediaType: folder ? folderType : media.byName(name),
  etag: folder ? '' : etag,
});

const write = ({ entries, total }: ListingPage, media: MediaTypes): ListingJson => ({
  entries: Buffer.from(JSON.stringify(entries.map((entry) => listed(entry, media)))),
  count: entries.length,
  total,
});

/** Writes pages out. */
export type WriteListing = (asker: TurnVisitor, page: ListingPage, media: MediaTypes) => Promise<ListingJson>;

/**
 * Returns a function that writes large pages one after the other, wide networks in turn, with a rest between two: each
 * holds the event loop for tens of milliseconds.
 */
export function listingWriter(): WriteListing {
  const large = turns({ atOnce: 1, mostWaiting, refusal: () => new Refusal('listingBusy') });
  const stays = new AbortController().signal; // several may wait for the same page
  return async (asker, page, media) => {
    if (page.entries.length <= writtenAtOnce) return write(page, media);
    const network = wideNetworkOf(asker.address);
    return runWithRest(large, [network, network], stays, () => write(page, media));
  };
}
