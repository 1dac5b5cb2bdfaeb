import type { Ports } from '#ports/ports.ts';
import { StoreAway, StoreFull } from '#ports/store.ts';
import { keyOf } from './visit-key.ts';
import { countRow, together } from './visit-rows.ts';
import type { VisitEvent } from './visit-trail.ts';

const batch = 100; // in one transaction, so that others get their turn

/** Returns the event with only the columns of its share that an audit entry holds: thousands of shares with long lists would fill the memory. */
function withoutLists(event: VisitEvent): VisitEvent {
  if (!event.link) return event;
  const { id, tid, title, view_id } = event.link;
  return { ...event, link: { id, tid, title, view_id, notify_emails: '' } };
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
  const events: { readonly event: VisitEvent; readonly at: number }[] = [];
  const writeTogether = (some: typeof events) =>
    store.write(async (tx) => {
      for (const { event, at } of some) await countRow(tx, { event, key: keyOf(event, null), now: at, until: at + together }, process);
    });
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
      if (events.length < most) events.push({ event: withoutLists(event), at });
    },
    async write() {
      while (events.length > 0) {
        const some = events.slice(0, batch);
        await writeTogether(some).catch((cause: unknown) => {
          if (passes(cause)) throw cause;
          return writeEach(some);
        });
        events.splice(0, some.length);
      }
    },
  };
}
