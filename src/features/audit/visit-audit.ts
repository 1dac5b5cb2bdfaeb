import { setAndEvict } from '#core/newest.ts';
import { enqueueAlert } from '#features/alerts/enqueue-alert.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { Ports } from '#ports/ports.ts';
import { archiveGrouping, type Download, isUnboundedArchive } from './archive-entries.ts';
import { type EntryAddition, writeAdditions } from './entry-additions.ts';
import { countEvent, downloadWindow, findOrAppendEntry, groupingWindow, tenantOfEvent } from './event-entry.ts';
import { eventKey } from './event-key.ts';
import { unwrittenEvents } from './unwritten-events.ts';
import type { VisitEvent } from './visit-event.ts';

const flushInterval = 500; // ms: the audit log shows the outcome of an action within a second of its end
const maxPause = 5000; // ms between two attempts while the database accepts no changes
const maxOpenEntries = 50_000;
const maxConcurrentWrites = 64; // of single events: further events are written in batches

/** The audit entry of a download. It is on disk before the first byte is sent. */
export interface TransferEntry {
  /** Adds the number of bytes sent, null if it is unknown. @param outcome `failed`: the transfer was interrupted */
  end(outcome: 'done' | 'failed', bytes: number | null): void;
}

/** Writes the audit log of visitors' actions. */
export interface VisitAudit extends AsyncDisposable {
  /** Records a visit, a folder listing or a refusal without making the caller wait. */
  recordInBackground(event: VisitEvent): void;
  /** Records an event. Resolves when it is on disk. */
  record(event: VisitEvent): Promise<void>;
  /**
   * Commits the entry of a download before its first byte is sent. Resolves when the entry is on disk.
   * @param version requests with the same version are one download; null: each request is a download of its own
   * @param alert whether to enqueue an alert e-mail
   */
  beginTransfer(event: VisitEvent, version: string | null, alert: boolean): Promise<TransferEntry>;
}

interface OpenEntry {
  readonly auditId: Promise<number>;
  readonly until: number;
}
/** Returns whether an entry still counts equal events. An end more than `downloadWindow` ahead was set while the clock was fast. */
const isOngoing = ({ until }: OpenEntry, now: number) => until > now && until <= now + downloadWindow;

/**
 * Returns the audit log for visits to this process. Equal events share one entry with a count. The database holds the open
 * entries too, so that counting continues after a restart.
 * @param onFailure receives errors of writes that no caller waits for
 */
export function visitAudit(ports: Pick<Ports, 'store' | 'clock' | 'process'>, onFailure: (cause: unknown) => void): VisitAudit {
  const { store, clock, process } = ports;
  const openEntries = new Map<string, OpenEntry>();
  const groupArchives = archiveGrouping(clock);
  const additions = new Map<number, EntryAddition>();
  const backlog = unwrittenEvents(ports, maxOpenEntries, onFailure);
  let timer: NodeJS.Timeout | undefined;
  let pause = flushInterval;
  let isFlushing = false;
  const runningWrites = new Set<Promise<unknown>>();

  /** Reports the failure of a write that no caller waits for. Only the shutdown waits for its end. */
  function trackWrite(write: Promise<unknown>): void {
    const running = write.catch(onFailure).finally(() => runningWrites.delete(running));
    runningWrites.add(running);
  }
  async function flush(): Promise<void> {
    timer = undefined;
    isFlushing = true;
    try {
      await backlog.write();
      await flushAdditions();
      pause = flushInterval;
    } catch (cause) {
      pause = Math.min(2 * pause, maxPause);
      throw cause;
    } finally {
      isFlushing = false;
      if (backlog.hasEvents || additions.size > 0) scheduleFlush();
    }
  }
  async function flushAdditions(): Promise<void> {
    const batch = [...additions];
    additions.clear();
    if (batch.length === 0) return;
    try {
      await store.write((tx) => writeAdditions(tx, batch), 'job');
    } catch (cause) {
      for (const [id, addition] of batch) addToEntry(id, addition); // the next flush writes them
      throw cause;
    }
  }
  function scheduleFlush(): void {
    if (!isFlushing) timer ??= setTimeout(() => trackWrite(flush()), pause).unref();
  }
  function addToEntry(id: number, { tid, count, bytes, outcome }: EntryAddition): void {
    const sum = additions.get(id) ?? { tid, count: 0, bytes: null, outcome: null };
    // One complete download among several requests makes the outcome `done`.
    const best = sum.outcome === 'done' ? 'done' : (outcome ?? sum.outcome);
    additions.set(id, { tid, count: sum.count + count, bytes: bytes === null ? sum.bytes : (sum.bytes ?? 0) + bytes, outcome: best });
    scheduleFlush();
  }
  /** Caches an open entry. Drops the oldest one above the limit, since the database still holds it. */
  function cacheOpenEntry(key: string, auditId: Promise<number>, until: number): void {
    setAndEvict(openEntries, key, { auditId, until }, maxOpenEntries);
    auditId.catch(() => openEntries.delete(key));
  }

  function findOpenEntry(key: string | null, now: number): OpenEntry | undefined {
    const entry = key === null ? undefined : openEntries.get(key);
    return entry && isOngoing(entry, now) ? entry : undefined;
  }
  const countOne = (id: number, event: VisitEvent) => addToEntry(id, { tid: tenantOfEvent(event), count: 1, bytes: null, outcome: null });

  /** Writes the entry of an event that has no open entry in memory. The database may still hold one: then it counts the event there. */
  function writeEvent(event: VisitEvent, key: string, now: number): Promise<number> {
    const grouped = { event, key, now, until: now + groupingWindow };
    const auditId = store.write((tx) => countEvent(tx, grouped, process), visitorTurn(event.visitorRequest.address));
    cacheOpenEntry(key, auditId, grouped.until);
    return auditId;
  }

  async function record(event: VisitEvent): Promise<void> {
    const now = clock.now();
    const key = eventKey(event, null);
    const entry = findOpenEntry(key, now);
    if (entry) countOne(await entry.auditId, event);
    else await writeEvent(event, key, now);
  }

  function note(event: VisitEvent): void {
    const now = clock.now();
    const key = eventKey(event, null);
    const entry = findOpenEntry(key, now);
    const queueEvent = () => {
      backlog.add(event, now);
      scheduleFlush();
    };
    // Most events have an open entry: only its count changes. If its write fails, the first event reports the failure.
    if (entry) return void entry.auditId.then((id) => countOne(id, event)).catch(queueEvent);
    if (backlog.hasEvents || runningWrites.size >= maxConcurrentWrites) return void queueEvent();
    const auditId = writeEvent(event, key, now);
    auditId.catch(queueEvent);
    trackWrite(auditId);
  }

  /** Groups an unbounded archive, unless the same archive has an open entry already. */
  function groupUnlessOpen(download: Download, now: number): Download {
    const { event, version } = download;
    return version !== null && findOpenEntry(eventKey(event, version), now) ? download : groupArchives(download);
  }

  async function begin(requestedEvent: VisitEvent, requestedVersion: string | null, alert: boolean): Promise<TransferEntry> {
    const now = clock.now();
    const download = { event: requestedEvent, version: requestedVersion };
    const { event, version } = isUnboundedArchive(download) ? groupUnlessOpen(download, now) : download;
    const key = version === null ? null : eventKey(event, version);
    const openEntry = findOpenEntry(key, now);
    const auditId =
      openEntry?.auditId ??
      store.write(async (tx) => {
        const { id, isNew } = await findOrAppendEntry(tx, { event, key, now, until: now + downloadWindow }, process);
        if (isNew && alert && event.link) await enqueueAlert(tx, event.link, id, event.action, now);
        return id;
      }, visitorTurn(event.visitorRequest.address));
    if (key !== null && !openEntry) cacheOpenEntry(key, auditId, now + downloadWindow);
    const id = await auditId;
    return { end: (outcome, bytes) => addToEntry(id, { tid: tenantOfEvent(event), count: 0, bytes, outcome }) };
  }

  return {
    recordInBackground: note,
    record,
    beginTransfer: begin,
    async [Symbol.asyncDispose]() {
      await Promise.all(runningWrites);
      clearTimeout(timer);
      await flush().catch(onFailure);
      clearTimeout(timer);
    },
  };
}
