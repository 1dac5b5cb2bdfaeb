import { setAndEvict } from '#core/bounded-map.ts';
import { enqueueAlert } from '#features/alerts/enqueue-alert.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { Ports } from '#ports/ports.ts';
import { archiveGrouping, type Download, isUnboundedArchive } from './archive-entries.ts';
import { type EntryAddition, writeAdditions } from './entry-additions.ts';
import { countEvent, downloadWindow, findOrAppendEntry, groupingWindow, tenantOfEvent } from './event-entry.ts';
import { eventKey } from './event-key.ts';
import { UnwrittenEvents } from './unwritten-events.ts';
import type { VisitEvent } from './visit-event.ts';

const flushInterval = 500; // ms: the audit log shows the outcome of an action within a second of its end
const maxPause = 5000; // ms between two attempts while the database accepts no changes
const maxOpenEntries = 50_000;
const maxConcurrentWrites = 64; // of single events: further events are written in batches

/** The audit entry of a download. It is on disk before the first byte is sent. */
export interface TransferEntry {
  /** Adds the outcome, and the number of bytes sent (null: unknown). @param outcome `failed`: the transfer was interrupted */
  end(outcome: 'done' | 'failed', bytes: number | null): void;
}

type AuditPorts = Pick<Ports, 'store' | 'clock' | 'process'>;

interface OpenEntry {
  readonly auditId: Promise<number>;
  readonly until: number;
}
/** Returns whether an entry still counts equal events. An end later than `downloadWindow` from now was set while the clock was ahead. */
const isOngoing = ({ until }: OpenEntry, now: number) => until > now && until <= now + downloadWindow;

const alertedAction = ({ action, visitor, visitorRequest }: VisitEvent, auditId: number) => ({
  ...{ auditId, action, identityKey: visitor?.identityKey ?? null, address: visitorRequest.address },
});

/**
 * Writes the audit log for this process's visitors. Equal events share one entry with a count. The database holds the open entries too,
 * so that counting continues after a restart.
 */
export class VisitAudit implements AsyncDisposable {
  readonly #ports: AuditPorts;
  readonly #onFailure: (cause: unknown) => void;
  readonly #openEntries = new Map<string, OpenEntry>();
  readonly #groupArchives: ReturnType<typeof archiveGrouping>;
  readonly #additions = new Map<number, EntryAddition>();
  readonly #backlog: UnwrittenEvents;
  readonly #runningWrites = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;
  #pause = flushInterval;
  #isFlushing = false;

  /**
   * @param onFailure receives errors of writes that no caller waits for
   * @param onDropped receives the number of events that were lost because too many were waiting for the database
   */
  constructor(ports: AuditPorts, onFailure: (cause: unknown) => void, onDropped: (count: number) => void) {
    this.#ports = ports;
    this.#onFailure = onFailure;
    this.#groupArchives = archiveGrouping(ports.clock);
    this.#backlog = new UnwrittenEvents(ports, onFailure, onDropped);
  }

  /** Records an event, such as a visit, a folder listing or a refusal, without making the caller wait. */
  recordInBackground(event: VisitEvent): void {
    const now = this.#ports.clock.now();
    const key = eventKey(event, null);
    const entry = this.#findOpenEntry(key, now);
    const queueEvent = () => {
      this.#backlog.add(event, now);
      this.#scheduleFlush();
    };
    // Most events have an open entry: only its count changes. If the entry cannot be written, the event that opened it reports the failure.
    if (entry) return void entry.auditId.then((id) => this.#countOne(id, event)).catch(queueEvent);
    if (this.#backlog.hasEventsOf(tenantOfEvent(event)) || this.#runningWrites.size >= maxConcurrentWrites) return void queueEvent();
    const auditId = this.#writeEvent(event, key, now);
    auditId.catch(queueEvent);
    this.#trackWrite(auditId);
  }

  /** Records an event. Resolves when its entry is on disk. If this process has an open entry for it, the next flush writes the count. */
  async record(event: VisitEvent): Promise<void> {
    const now = this.#ports.clock.now();
    const key = eventKey(event, null);
    const entry = this.#findOpenEntry(key, now);
    if (entry) this.#countOne(await entry.auditId, event);
    else await this.#writeEvent(event, key, now);
  }

  /**
   * Commits the entry of a download before its first byte is sent. Resolves when the entry is on disk.
   * @param requestedVersion requests with the same version are one download; null: each request is a download of its own. After many
   *   unbounded archives of one site, further ones share one entry (see `archiveGrouping`)
   * @param alert whether a new entry enqueues an alert
   */
  async beginTransfer(requestedEvent: VisitEvent, requestedVersion: string | null, alert: boolean): Promise<TransferEntry> {
    const { store, clock, process } = this.#ports;
    const now = clock.now();
    const download = { event: requestedEvent, version: requestedVersion };
    const { event, version } = isUnboundedArchive(download) ? this.#groupUnlessOpen(download, now) : download;
    const key = version === null ? null : eventKey(event, version);
    const openEntry = this.#findOpenEntry(key, now);
    const auditId =
      openEntry?.auditId ??
      store.write(async (tx) => {
        const { id, isNew } = await findOrAppendEntry(tx, { event, key, now, until: now + downloadWindow }, process);
        if (isNew && alert && event.link) await enqueueAlert(tx, event.link, alertedAction(event, id), now);
        return id;
      }, visitorTurn(event.visitorRequest.address));
    if (key !== null && !openEntry) this.#cacheOpenEntry(key, auditId, now + downloadWindow);
    const id = await auditId;
    return { end: (outcome, bytes) => this.#addToEntry(id, { tid: tenantOfEvent(event), count: 0, bytes, outcome }) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#runningWrites);
    clearTimeout(this.#timer);
    await this.#flush().catch(this.#onFailure);
    clearTimeout(this.#timer);
  }

  /** Reports the failure of a write that no caller waits for. Only the shutdown waits for its end. */
  #trackWrite(write: Promise<unknown>): void {
    const running = write.catch(this.#onFailure).finally(() => this.#runningWrites.delete(running));
    this.#runningWrites.add(running);
  }

  #scheduleFlush(): void {
    if (!this.#isFlushing) this.#timer ??= setTimeout(() => this.#trackWrite(this.#flush()), this.#pause).unref();
  }

  async #flush(): Promise<void> {
    this.#timer = undefined;
    this.#isFlushing = true;
    try {
      do {
        await this.#backlog.writeSome();
        await this.#flushAdditions();
      } while (this.#backlog.hasEvents);
      this.#pause = flushInterval;
    } catch (cause) {
      this.#pause = Math.min(2 * this.#pause, maxPause);
      throw cause;
    } finally {
      this.#isFlushing = false;
      if (this.#backlog.hasEvents || this.#additions.size > 0) this.#scheduleFlush();
    }
  }

  async #flushAdditions(): Promise<void> {
    const batch = [...this.#additions];
    this.#additions.clear();
    if (batch.length === 0) return;
    try {
      await this.#ports.store.write((tx) => writeAdditions(tx, batch), 'job');
    } catch (cause) {
      for (const [id, addition] of batch) this.#addToEntry(id, addition); // the next flush writes them
      throw cause;
    }
  }

  #addToEntry(id: number, { tid, count, bytes, outcome }: EntryAddition): void {
    const sum = this.#additions.get(id) ?? { tid, count: 0, bytes: null, outcome: null };
    // One complete download among several requests makes the outcome `done`.
    const best = sum.outcome === 'done' ? 'done' : (outcome ?? sum.outcome);
    const sumOfBytes = bytes === null ? sum.bytes : (sum.bytes ?? 0) + bytes;
    this.#additions.set(id, { tid, count: sum.count + count, bytes: sumOfBytes, outcome: best });
    this.#scheduleFlush();
  }

  #countOne(id: number, event: VisitEvent): void {
    this.#addToEntry(id, { tid: tenantOfEvent(event), count: 1, bytes: null, outcome: null });
  }

  /** Writes the entry of an event that has no open entry in memory. If the database still holds one, the event is counted there. */
  #writeEvent(event: VisitEvent, key: string, now: number): Promise<number> {
    const { store, process } = this.#ports;
    const grouped = { event, key, now, until: now + groupingWindow };
    const auditId = store.write((tx) => countEvent(tx, grouped, process), visitorTurn(event.visitorRequest.address));
    this.#cacheOpenEntry(key, auditId, grouped.until);
    return auditId;
  }

  /** Caches an open entry. Above the limit, drops the oldest ones: the database still holds them. */
  #cacheOpenEntry(key: string, auditId: Promise<number>, until: number): void {
    setAndEvict(this.#openEntries, key, { auditId, until }, maxOpenEntries);
    auditId.catch(() => this.#openEntries.delete(key));
  }

  #findOpenEntry(key: string | null, now: number): OpenEntry | undefined {
    const entry = key === null ? undefined : this.#openEntries.get(key);
    return entry && isOngoing(entry, now) ? entry : undefined;
  }

  /** Groups an archive with unlimited variants (`isUnboundedArchive`), unless the same archive has an open entry already. */
  #groupUnlessOpen(download: Download, now: number): Download {
    const { event, version } = download;
    return version !== null && this.#findOpenEntry(eventKey(event, version), now) ? download : this.#groupArchives(download);
  }
}
