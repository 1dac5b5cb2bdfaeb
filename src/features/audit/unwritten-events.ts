import { networksOf } from '#core/client-networks.ts';
import { addCount } from '#core/count-by-key.ts';
import { fairQueue } from '#core/fair-queue.ts';
import type { Ports } from '#ports/ports.ts';
import { isTemporaryStoreError } from '#ports/store.ts';
import { countEvent, groupingWindow, tenantOfEvent } from './event-entry.ts';
import { eventKey } from './event-key.ts';
import type { VisitEvent } from './visit-event.ts';

const batchSize = 100; // events in one transaction, so that other changes get their turn

const maxCharacters = 16 << 20; // of all queued events as JSON, each with `eventOverhead`
const eventOverhead = 300; // characters that count for each event in addition to its JSON

interface QueuedEvent {
  readonly event: VisitEvent;
  /** Time of the event, ms since the epoch. */
  readonly at: number;
  /** The groups that take turns: the tenant, a wide network, and a narrow one within it. */
  readonly groups: readonly [tenant: string, wide: string, narrow: string];
  /** Characters of its JSON and `eventOverhead`. */
  readonly length: number;
}

/**
 * Returns an event with only what its audit entry needs: the lists of a share, and the visitor's groups and headers, would fill the memory.
 */
function compactEvent({ link, visitor, visitorRequest: { address, requestId }, ...event }: VisitEvent): VisitEvent {
  const columns = link && { id: link.id, tid: link.tid, title: link.title, view_id: link.view_id, notify_emails: '' };
  return {
    ...event,
    link: columns,
    visitor: visitor && { name: visitor.name, identityKey: visitor.identityKey },
    visitorRequest: { address, requestId },
  };
}

/**
 * Visitors' events that are not in the database yet. Tenants and networks take turns. A tenant can take half of the memory that the other
 * tenants leave, and a wide network half of what the other networks leave of that, so that nobody can keep the events of others out of
 * the audit log.
 */
export class UnwrittenEvents {
  readonly #ports: Pick<Ports, 'store' | 'process'>;
  readonly #onRejected: (cause: unknown) => void;
  readonly #onDropped: (count: number) => void;
  readonly #queue = fairQueue<QueuedEvent>();
  /** Characters of the events by tenant, and by tenant and wide network. */
  readonly #lengths = new Map<string, number>();
  #totalLength = 0;
  /** The events that are being written, or that were being written when the database became unavailable. */
  #batch: readonly QueuedEvent[] = [];
  #droppedCount = 0;

  /**
   * @param onRejected receives the error of each event that the database rejects
   * @param onDropped receives the number of events that did not fit, after the next write of other events
   */
  constructor(ports: Pick<Ports, 'store' | 'process'>, onRejected: (cause: unknown) => void, onDropped: (count: number) => void) {
    this.#ports = ports;
    this.#onRejected = onRejected;
    this.#onDropped = onDropped;
  }

  get hasEvents(): boolean {
    return this.#totalLength > 0;
  }

  /** Returns whether an earlier event of a tenant is not written yet. */
  hasEventsOf(tid: number): boolean {
    return this.#lengths.has(`${tid}`);
  }

  /** Queues an event, or drops it if it does not fit. @param at time of the event, ms since the epoch */
  add(event: VisitEvent, at: number): void {
    const compact = compactEvent(event);
    const length = eventOverhead + JSON.stringify(compact).length;
    const queued = {
      event: compact,
      at,
      groups: [`${tenantOfEvent(event)}`, ...networksOf(event.visitorRequest.address)],
      length,
    } as const;
    if (!this.#fits(queued)) {
      this.#droppedCount += 1;
      return;
    }
    this.#changeLengths(queued, length);
    this.#queue.add(queued.groups, queued);
  }

  /**
   * Writes some of the events, and drops those that the database rejects.
   * @throws StoreUnavailable, StoreFull; then the events that were not written stay queued
   */
  async writeSome(): Promise<void> {
    if (this.#batch.length === 0) this.#batch = this.#takeBatch();
    const batch = this.#batch;
    if (batch.length === 0) return;
    try {
      await this.#write(batch);
      this.#settle(batch);
    } catch (cause) {
      if (isTemporaryStoreError(cause)) throw cause;
      await this.#writeEach(batch);
    }
  }

  #takeBatch(): QueuedEvent[] {
    const batch: QueuedEvent[] = [];
    while (batch.length < batchSize) {
      const event = this.#queue.take();
      if (!event) break;
      batch.push(event);
    }
    return batch;
  }

  #write(events: readonly QueuedEvent[]): Promise<void> {
    const { store, process } = this.#ports;
    return store.write(async (tx) => {
      for (const { event, at } of events)
        await countEvent(tx, { event, key: eventKey(event, null), now: at, until: at + groupingWindow }, process);
    }, 'job');
  }

  /** Writes each event in a transaction of its own, to find those that the database rejects. */
  async #writeEach(events: readonly QueuedEvent[]): Promise<void> {
    for (const event of events) {
      await this.#write([event]).catch((cause: unknown) => {
        if (isTemporaryStoreError(cause)) throw cause;
        this.#onRejected(cause);
      });
      this.#settle([event]);
    }
  }

  /** Removes events of the batch that were written or rejected. */
  #settle(events: readonly QueuedEvent[]): void {
    this.#batch = this.#batch.slice(events.length);
    for (const event of events) this.#changeLengths(event, -event.length);
    if (this.#droppedCount > 0) this.#onDropped(this.#droppedCount);
    this.#droppedCount = 0;
  }

  #fits({ groups: [tenant, wide], length }: QueuedEvent): boolean {
    const ofTenant = this.#lengths.get(tenant) ?? 0;
    const ofNetwork = this.#lengths.get(`${tenant} ${wide}`) ?? 0;
    const maxOfTenant = (maxCharacters - (this.#totalLength - ofTenant)) / 2;
    const maxOfNetwork = (maxOfTenant - (ofTenant - ofNetwork)) / 2;
    return ofNetwork + length <= maxOfNetwork;
  }

  #changeLengths({ groups: [tenant, wide] }: QueuedEvent, change: number): void {
    this.#totalLength += change;
    addCount(this.#lengths, tenant, change);
    addCount(this.#lengths, `${tenant} ${wide}`, change);
  }
}
