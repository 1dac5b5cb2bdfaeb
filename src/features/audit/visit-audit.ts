import { setNewest } from '#core/newest.ts';
import type { Outcome } from '#core/records/audit-entry.ts';
import { enqueueAlert } from '#features/alerts/enqueue-alert.ts';
import type { LinkRow, SignedInVisitor } from '#features/links/find-link.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { Ports } from '#ports/ports.ts';
import { archiveEntries, type Download, isUnboundedArchive } from './archive-entries.ts';
import { type EntryAddition, writeAdditions } from './entry-additions.ts';
import { countEvent, downloadWindow, findOrAppendEntry, groupingWindow, tenantOfEvent } from './event-entry.ts';
import { eventKey } from './event-key.ts';
import { unwrittenEvents } from './unwritten-events.ts';

const flushEvery = 500; // ms; what an action came to is told within a second of its end
const longestPause = 5000; // ms, while the database takes no change
const mostRemembered = 50_000;
const mostUnderWay = 64; // rows that are begun at once: the rest is written together

/** What a visitor did, before it is written. */
export interface VisitEvent {
  readonly link: Pick<LinkRow, 'id' | 'tid' | 'title' | 'view_id' | 'notify_emails'> | null;
  readonly tid?: number;
  readonly visitor: SignedInVisitor | null;
  /** Where the request came from. */
  readonly visitorRequest: { readonly address: string; readonly requestId: string };
  readonly action: string;
  readonly outcome: Outcome;
  readonly path: string;
  readonly after?: object;
}

/** An action that hands out bytes, recorded before the first of them. */
export interface TransferEntry {
  /** Adds what was handed out, null where that is not known; `failed`: it broke off. */
  end(outcome: 'done' | 'failed', bytes: number | null): void;
}

export interface VisitAudit extends AsyncDisposable {
  /** Notes a visit, a list or a refusal; nobody waits for it. */
  note(event: VisitEvent): void;
  /** The same, and on disk when it answers. */
  record(event: VisitEvent): Promise<void>;
  /**
   * Commits the row of an action that hands out bytes; on disk when it answers.
   * @param version what makes requests one download; null: each is one of its own
   * @param alert whether an e-mail is owed for it
   */
  begin(event: VisitEvent, version: string | null, alert: boolean): Promise<TransferEntry>;
}

interface OpenEntry {
  readonly auditId: Promise<number>;
  readonly until: number;
}
/** An end further ahead than any is set comes from a clock that was ahead. */
const isOngoing = ({ until }: OpenEntry, now: number) => until > now && until <= now + downloadWindow;

/** The trail of all visits of this process; equal ones are counted, in the database too, so that a restart goes on. */
export function visitAudit(ports: Pick<Ports, 'store' | 'clock' | 'process'>, failed: (cause: unknown) => void): VisitAudit {
  const { store, clock, process } = ports;
  const ongoing = new Map<string, OpenEntry>();
  const choices = archiveEntries(clock);
  const added = new Map<number, EntryAddition>();
  const unwritten = unwrittenEvents(ports, mostRemembered, failed);
  let timer: NodeJS.Timeout | undefined;
  let pause = flushEvery;
  let flushing = false;
  const underWay = new Set<Promise<unknown>>();

  /** Nobody waits for it but the end of the process. */
  function tellIfFailed(work: Promise<unknown>): void {
    const told = work.catch(failed).finally(() => underWay.delete(told));
    underWay.add(told);
  }
  async function flush(): Promise<void> {
    timer = undefined;
    flushing = true;
    try {
      await unwritten.write();
      await writeAdded();
      pause = flushEvery;
    } catch (cause) {
      pause = Math.min(2 * pause, longestPause);
      throw cause;
    } finally {
      flushing = false;
      if (unwritten.some || added.size > 0) soon();
    }
  }
  async function writeAdded(): Promise<void> {
    const parts = [...added];
    added.clear();
    if (parts.length === 0) return;
    try {
      await store.write((tx) => writeAdditions(tx, parts), 'job');
    } catch (cause) {
      for (const [id, part] of parts) add(id, part); // told the next time
      throw cause;
    }
  }
  function soon(): void {
    if (!flushing) timer ??= setTimeout(() => tellIfFailed(flush()), pause).unref();
  }
  function add(id: number, { tid, count, bytes, outcome }: EntryAddition): void {
    const known = added.get(id) ?? { tid, count: 0, bytes: null, outcome: null };
    // One whole download among several requests is a download.
    const best = known.outcome === 'done' ? 'done' : (outcome ?? known.outcome);
    added.set(id, { tid, count: known.count + count, bytes: bytes === null ? known.bytes : (known.bytes ?? 0) + bytes, outcome: best });
    soon();
  }
  /** Drops the oldest entry where there are too many: the database still knows it. */
  function remember(key: string, auditId: Promise<number>, until: number): void {
    setNewest(ongoing, key, { auditId, until }, mostRemembered);
    auditId.catch(() => ongoing.delete(key));
  }

  function livingOf(key: string | null, now: number): OpenEntry | undefined {
    const known = key === null ? undefined : ongoing.get(key);
    return known && isOngoing(known, now) ? known : undefined;
  }
  const addOne = (id: number, event: VisitEvent) => add(id, { tid: tenantOfEvent(event), count: 1, bytes: null, outcome: null });

  /** Begins the row of an event that no row tells yet, or adds it to the one that the database knows. */
  function beginRow(event: VisitEvent, key: string, now: number): Promise<number> {
    const row = { event, key, now, until: now + groupingWindow };
    const auditId = store.write((tx) => countEvent(tx, row, process), visitorTurn(event.visitorRequest.address));
    remember(key, auditId, row.until);
    return auditId;
  }

  async function record(event: VisitEvent): Promise<void> {
    const now = clock.now();
    const key = eventKey(event, null);
    const known = livingOf(key, now);
    if (known) addOne(await known.auditId, event);
    else await beginRow(event, key, now);
  }

  function note(event: VisitEvent): void {
    const now = clock.now();
    const key = eventKey(event, null);
    const known = livingOf(key, now);
    const later = () => {
      unwritten.add(event, now);
      soon();
    };
    // Most events equal one that has an entry: only its count changes.
    if (known) return void known.auditId.then((id) => addOne(id, event)).catch(later); // said for the first of them
    if (unwritten.some || underWay.size >= mostUnderWay) return void later();
    const auditId = beginRow(event, key, now);
    auditId.catch(later);
    tellIfFailed(auditId);
  }

  /** Keeps the entry of an archive that was requested before. */
  function toldApart(download: Download, now: number): Download {
    const { event, version } = download;
    return version !== null && livingOf(eventKey(event, version), now) ? download : choices(download);
  }

  async function begin(asked: VisitEvent, askedVersion: string | null, alert: boolean): Promise<TransferEntry> {
    const now = clock.now();
    const download = { event: asked, version: askedVersion };
    const { event, version } = isUnboundedArchive(download) ? toldApart(download, now) : download;
    const key = version === null ? null : eventKey(event, version);
    const living = livingOf(key, now);
    const auditId =
      living?.auditId ??
      store.write(async (tx) => {
        const { id, fresh } = await findOrAppendEntry(tx, { event, key, now, until: now + downloadWindow }, process);
        if (fresh && alert && event.link) await enqueueAlert(tx, event.link, id, event.action, now);
        return id;
      }, visitorTurn(event.visitorRequest.address));
    if (key !== null && !living) remember(key, auditId, now + downloadWindow);
    const id = await auditId;
    return { end: (outcome, bytes) => add(id, { tid: tenantOfEvent(event), count: 0, bytes, outcome }) };
  }

  return {
    note,
    record,
    begin,
    async [Symbol.asyncDispose]() {
      await Promise.all(underWay);
      clearTimeout(timer);
      await flush().catch(failed);
      clearTimeout(timer);
    },
  };
}
