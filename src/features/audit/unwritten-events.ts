import type { Ports } from '#ports/ports.ts';
import { StoreFull, StoreUnavailable } from '#ports/store.ts';
import { countEvent, groupingWindow } from './event-entry.ts';
import { eventKey } from './event-key.ts';
import type { VisitEvent } from './visit-event.ts';

const batchSize = 100; // events in one transaction, so that other changes get their turn

const maxCharacters = 16 << 20; // in the texts of all queued events
const eventOverhead = 300; // characters that count for each event in addition to its texts

/** Returns the event with only what its audit entry needs: a share's lists, groups and request headers would fill the memory. */
function compactEvent({ link, visitor, visitorRequest: { address, requestId }, ...event }: VisitEvent): VisitEvent {
  const columns = link && { id: link.id, tid: link.tid, title: link.title, view_id: link.view_id, notify_emails: '' };
  return {
    ...event,
    link: columns,
    visitor: visitor && { name: visitor.name, identityKey: visitor.identityKey },
    visitorRequest: { address, requestId },
  };
}

/** A queue of visitors' events that are not in the database yet, oldest first. */
export interface UnwrittenEvents {
  /** Whether the queue holds events. */
  readonly hasEvents: boolean;
  /** Queues an event, or drops it if the queue is full. @param at time of the event, ms since the epoch */
  add(event: VisitEvent, at: number): void;
  /**
   * Writes all events in order and drops those that the database rejects.
   * @throws StoreUnavailable, StoreFull; then the events that were not written stay queued
   */
  write(): Promise<void>;
}

/**
 * @param maxEvents capacity of the queue
 * @param onRejected receives the error of each event that the database rejects
 * @param onDropped receives the number of events that did not fit, once for each time that the queue was full
 */
export function unwrittenEvents(
  { store, process }: Pick<Ports, 'store' | 'process'>,
  maxEvents: number,
  onRejected: (cause: unknown) => void,
  onDropped: (count: number) => void,
): UnwrittenEvents {
  const queue: { readonly event: VisitEvent; readonly at: number; readonly length: number }[] = [];
  let [characters, dropped] = [0, 0];
  const writeBatch = (batch: typeof queue) =>
    store.write(async (tx) => {
      for (const { event, at } of batch)
        await countEvent(tx, { event, key: eventKey(event, null), now: at, until: at + groupingWindow }, process);
    }, 'job');
  const isTemporary = (cause: unknown) => cause instanceof StoreUnavailable || cause instanceof StoreFull;
  function removeOldest(count: number): void {
    for (const { length } of queue.splice(0, count)) characters -= length;
    if (dropped > 0) onDropped(dropped);
    dropped = 0;
  }
  /** Writes each of the oldest events in a transaction of its own, to find those that the database rejects. */
  async function writeEach(count: number): Promise<void> {
    for (const entry of queue.slice(0, count)) {
      await writeBatch([entry]).catch((cause: unknown) => {
        if (isTemporary(cause)) throw cause;
        onRejected(cause);
      });
      removeOldest(1);
    }
  }
  return {
    get hasEvents() {
      return queue.length > 0;
    },
    add(event, at) {
      const queuedEvent = compactEvent(event);
      const length = eventOverhead + JSON.stringify(queuedEvent).length;
      if (queue.length >= maxEvents || characters + length > maxCharacters) {
        dropped += 1;
        return;
      }
      characters += length;
      queue.push({ event: queuedEvent, at, length });
    },
    async write() {
      while (queue.length > 0) {
        const batch = queue.slice(0, batchSize);
        try {
          await writeBatch(batch);
          removeOldest(batch.length);
        } catch (cause) {
          if (isTemporary(cause)) throw cause;
          await writeEach(batch.length);
        }
      }
    },
  };
}
