import type { Ports } from '#ports/ports.ts';
import { StoreAway, StoreFull } from '#ports/store.ts';
import { countEvent, groupingWindow } from './event-entry.ts';
import { eventKey } from './event-key.ts';
import type { VisitEvent } from './visit-audit.ts';

const batch = 100; // in one transaction, so that others get their turn

const mostCharacters = 16 << 20; // of the texts of all kept events
const smallest = 300; // characters that an event counts at least

/** Returns the event with only what its audit entry holds: lists of a share and headers of a request would fill the memory. */
function withoutRest({ link, visitorRequest: { address, requestId }, ...event }: VisitEvent): VisitEvent {
  const columns = link && { id: link.id, tid: link.tid, title: link.title, view_id: link.view_id, notify_emails: '' };
  return { ...event, link: columns, visitorRequest: { address, requestId } };
}

/** What visitors did while the database took no change, oldest first. */
export interface UnwrittenEvents {
  readonly some: boolean;
  add(event: VisitEvent, at: number): void;
  /** Writes all, in their order. One that the database will not hold is left out. @throws StoreAway, StoreFull; what is not written stays */
  write(): Promise<void>;
}

/**
 * @param most how many are kept
 * @param refused is told what the database says of an event that it will not hold
 */
export function unwrittenEvents(
  { store, process }: Pick<Ports, 'store' | 'process'>,
  most: number,
  refused: (cause: unknown) => void,
): UnwrittenEvents {
  const events: { readonly event: VisitEvent; readonly at: number; readonly length: number }[] = [];
  let characters = 0;
  const writeTogether = (some: typeof events) =>
    store.write(async (tx) => {
      for (const { event, at } of some)
        await countEvent(tx, { event, key: eventKey(event, null), now: at, until: at + groupingWindow }, process);
    }, 'job');
  const passes = (cause: unknown) => cause instanceof StoreAway || cause instanceof StoreFull;
  async function writeEach(some: typeof events): Promise<void> {
    for (const one of some)
      await writeTogether([one]).catch((cause: unknown) => {
        if (passes(cause)) throw cause;
        refused(cause);
      });
  }
  return {
    get some() {
      return events.length > 0;
    },
    add(event, at) {
      const kept = withoutRest(event);
      const length = smallest + JSON.stringify(kept).length;
      if (events.length >= most || characters + length > mostCharacters) return;
      characters += length;
      events.push({ event: kept, at, length });
    },
    async write() {
      while (events.length > 0) {
        const some = events.slice(0, batch);
        await writeTogether(some).catch((cause: unknown) => {
          if (passes(cause)) throw cause;
          return writeEach(some);
        });
        for (const { length } of events.splice(0, some.length)) characters -= length;
      }
    },
  };
}
