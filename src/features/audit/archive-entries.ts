import { windowCounts } from '#core/window-counts.ts';
import type { Clock } from '#ports/clock.ts';
import { visitorNetwork } from './event-key.ts';
import type { VisitEvent } from './visit-audit.ts';

const window = 600_000; // ms
const toldApart = 30; // in a window, of one network at one link
const inOne = 'further archives';

/** An event of a download, and what makes requests the same download. */
export interface Download {
  readonly event: VisitEvent;
  readonly version: string | null;
}

/** Is it one of archives without number: of chosen names, or without a version that tells it from others? */
export const isUnboundedArchive = ({ event: { action, after, outcome }, version }: Download) =>
  action === 'downloadFolder' && outcome === 'begun' && (after !== undefined || version === null);

/**
 * Tells such archives apart in the audit log until a network has asked for many at a link: they are without number, and
 * would fill the disk. Further ones of a folder are one entry in ten minutes, without the names.
 */
export function archiveEntries(clock: Clock): (download: Download) => Download {
  const counts = windowCounts(window, clock.now);
  return ({ event, version }) => {
    const { link, visitorRequest, after } = event;
    const count = counts.add(JSON.stringify([link?.id, visitorNetwork(visitorRequest.address)]));
    if (count <= toldApart) return { event, version };
    return { event: after === undefined ? event : { ...event, after: { names: [] } }, version: inOne };
  };
}
