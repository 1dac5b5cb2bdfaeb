import { siteOf } from '#core/client-networks.ts';
import { windowCounts } from '#core/window-counts.ts';
import type { Clock } from '#ports/clock.ts';
import type { VisitEvent } from './visit-event.ts';

const window = 600_000; // ms
const maxSeparate = 30; // entries in a window, for one site at one link
const groupedVersion = 'further archives';

/** A download event with the version of the file or archive; null: it has none. Requests for the same version are one download. */
export interface Download {
  readonly event: VisitEvent;
  readonly version: string | null;
}

/** Returns whether a download is an archive with unlimited variants: an archive of chosen entries, or an archive without a version. */
export const isUnboundedArchive = ({ event: { action, after, outcome }, version }: Download) =>
  action === 'downloadFolder' && outcome === 'begun' && (after !== undefined || version === null);

/**
 * Returns a function that limits the audit entries of unbounded archives: separate entries could fill the disk. After
 * `maxSeparate` archives of one site at one link within ten minutes, further archives of a folder by a visitor share one entry,
 * without the names of the chosen entries.
 */
export function archiveGrouping(clock: Clock): (download: Download) => Download {
  const counts = windowCounts(window, clock.now);
  return ({ event, version }) => {
    const { link, visitorRequest, after } = event;
    const count = counts.add(JSON.stringify([link?.id, siteOf(visitorRequest.address)]));
    if (count <= maxSeparate) return { event, version };
    return { event: after === undefined ? event : { ...event, after: { names: [] } }, version: groupedVersion };
  };
}
