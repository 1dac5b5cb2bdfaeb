import { wideNetworkOf } from '#core/client-networks.ts';
import { formatInstant } from '#core/instant.ts';
import type { Entry, ListingPage } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import { runWithRest, turns } from '#features/turns/turns.ts';
import type { TurnVisitor } from '#features/turns/visitor-turns.ts';
import type { MediaTypes } from '#ports/media.ts';

const maxUnqueuedEntries = 1000; // formatting them takes some ms
const retryAfter = 2; // seconds
const maxWaiting = { inner: 512, all: 2048 };
const folderType = 'inode/directory';

/** A page of a folder with its entries as JSON. Requests that share one read of the page share these bytes. */
export interface ListingJson {
  readonly entries: Buffer;
  readonly count: number;
  /** Number of matching entries on all pages. */
  readonly total: number;
}

const entryJson = ({ name, folder, size, modified, etag }: Entry, media: MediaTypes) => ({
  name,
  folder,
  size,
  modifiedDateTime: modified === null ? null : formatInstant(modified),
  mediaType: folder ? folderType : media.byName(name),
  etag: folder ? '' : etag,
});

const pageJson = ({ entries, total }: ListingPage, media: MediaTypes): ListingJson => ({
  entries: Buffer.from(JSON.stringify(entries.map((entry) => entryJson(entry, media)))),
  count: entries.length,
  total,
});

/** Formats a page of a folder as JSON. @throws Refusal (503) if too many large pages wait */
export type FormatListing = (visitor: TurnVisitor, page: ListingPage, media: MediaTypes) => Promise<ListingJson>;

/**
 * Returns a function that formats large pages one at a time, in turns by wide network, with a pause after each: a large page
 * blocks the event loop for tens of milliseconds.
 */
export function listingFormatter(): FormatListing {
  const largePageTurns = turns({ concurrency: 1, maxWaiting, refusal: () => new Refusal('listingBusy', undefined, { retryAfter }) });
  /** A storage may return the same page object again, if the page has not changed. */
  const formatted = new WeakMap<ListingPage, ListingJson>();
  function format(page: ListingPage, media: MediaTypes): ListingJson {
    const json = formatted.get(page) ?? pageJson(page, media);
    formatted.set(page, json);
    return json;
  }
  return async (visitor, page, media) => {
    if (formatted.has(page) || page.entries.length <= maxUnqueuedEntries) return format(page, media);
    const network = wideNetworkOf(visitor.address);
    return runWithRest(largePageTurns, [network, network], null, () => format(page, media));
  };
}
