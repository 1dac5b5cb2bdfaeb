import { keepNewest } from '#core/newest.ts';
import type { Outcome } from '#core/records/audit-row.ts';
import type { LinkRow, SignedIn } from '#features/link-facts.ts';
import { type Happening, recordHappening } from '#features/trail.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { archiveChoices, type Download, isChoice } from './archive-choices.ts';
import { type Added, addAll } from './audit-additions.ts';
import { digest, keyOf } from './visit-key.ts';

const together = 60_000; // ms within which equal refusals, visits and lists are one row
const oneDownload = 600_000; // ms within which requests for one version of a file are one download
const flushEvery = 500; // ms; what an action came to is told within a second of its end
const mostRemembered = 50_000;

/** What a visitor did, before it is written. */
export interface VisitEvent {
  readonly link: Pick<LinkRow, 'id' | 'tid' | 'title' | 'view_id' | 'notify_emails'> | null;
  readonly tid?: number;
  readonly visitor: SignedIn | null;
  /** Where the request came from. */
  readonly approaching: { readonly address: string; readonly requestId: string };
  readonly action: string;
  readonly outcome: Outcome;
  readonly path: string;
  readonly after?: object;
}

/** An action that hands out bytes, recorded before the first of them. */
export interface ByteRecord {
  /** Adds what was handed out, null where that is not known; `failed`: it broke off. */
  end(outcome: 'done' | 'failed', bytes: number | null): void;
}

export interface VisitTrail extends AsyncDisposable {
  /** Notes a visit, a list or a refusal; nobody waits for it. */
  note(event: VisitEvent): void;
  /** The same, and on disk when it answers. */
  record(event: VisitEvent): Promise<void>;
  /**
   * Commits the row of an action that hands out bytes; on disk when it answers.
   * @param version what makes requests one download; null: each is one of its own
   * @param alert whether an e-mail is owed for it
   */
  begin(event: VisitEvent, version: string | null, alert: boolean): Promise<ByteRecord>;
}

const tenantOf = ({ link, tid }: VisitEvent) => link?.tid ?? tid ?? 0;

/** A visitor's happening as an audit row. */
export function happeningOf(event: VisitEvent, { process }: Pick<Ports, 'process'>, now: number): Happening {
  const { link, visitor, approaching } = event;
  return {
    tid: tenantOf(event),
    at: now,
    actor: visitor?.name ?? '',
    actorKind: 'visitor',
    address: approaching.address,
    action: event.action,
    outcome: event.outcome,
    share: link ? { id: link.id, title: link.title, viewId: link.view_id } : null,
    path: event.path,
    bytes: null,
    before: null,
    after: event.after ?? null,
    requestId: approaching.requestId,
    process: event.outcome === 'begun' ? process : null,
  };
}

/** The e-mail that is owed for an action, in the action's own transaction. */
export async function oweAlert(
  tx: Tx,
  link: Pick<LinkRow, 'id' | 'tid' | 'notify_emails'>,
  auditId: number,
  action: string,
  now: number,
): Promise<void> {
  if (link.notify_emails === '') return;
  await tx
    .insertInto('alert')
    .values({ tid: link.tid, share_id: link.id, audit_id: auditId, action, emails: link.notify_emails, created_at: now })
    .execute();
}

interface Ongoing {
  readonly auditId: Promise<number>;
  readonly until: number;
}
/** An end further ahead than any is set comes from a clock that was ahead. */
const isOngoing = ({ until }: Ongoing, now: number) => until > now && until <= now + oneDownload;

/** The trail of all visits of this process; equal ones are counted, in the database too, so that a restart goes on. */
export function visitTrail(ports: Pick<Ports, 'store' | 'clock' | 'process'>, failed: (cause: unknown) => void): VisitTrail {
  const { store, clock } = ports;
  const ongoing = new Map<string, Ongoing>();
  const choices = archiveChoices(clock);
  const added = new Map<number, Added>();
  /** Noted while the database was away, and when. */
  const unwritten: { readonly event: VisitEvent; readonly at: number }[] = [];
  let timer: NodeJS.Timeout | undefined;
  const underWay = new Set<Promise<unknown>>();

  /** Nobody waits for it but the end of the process. */
  function tellIfFailed(work: Promise<unknown>): void {
    const told = work.catch(failed).finally(() => underWay.delete(told));
    underWay.add(told);
  }
  async function flush(): Promise<void> {
    timer = undefined;
    for (const { event, at } of unwritten.splice(0)) note(event, at);
    const parts = [...added];
    added.clear();
    if (parts.length === 0) return;
    try {
      await store.write((tx) => addAll(tx, parts));
    } catch (cause) {
      for (const [id, part] of parts) add(id, part); // told the next time
      throw cause;
    }
  }
  const soon = () => {
    timer ??= setTimeout(() => tellIfFailed(flush()), flushEvery).unref();
  };
  function add(id: number, { tid, count, bytes, outcome }: Added): void {
    const known = added.get(id) ?? { tid, count: 0, bytes: null, outcome: null };
    // One whole download among several requests is a download.
    const best = known.outcome === 'done' ? 'done' : (outcome ?? known.outcome);
    added.set(id, { tid, count: known.count + count, bytes: bytes === null ? known.bytes : (known.bytes ?? 0) + bytes, outcome: best });
    soon();
  }
  /** Drops the oldest entry where there are too many: the database still knows it. */
  function remember(key: string, auditId: Promise<number>, until: number): void {
    keepNewest(ongoing, key, { auditId, until }, mostRemembered);
    auditId.catch(() => ongoing.delete(key));
  }

  /** The row that an equal happening is already told by, or a new one. */
  async function rowFor(
    tx: Tx,
    event: VisitEvent,
    plain: string | null,
    until: number,
    now: number,
  ): Promise<{ id: number; fresh: boolean }> {
    const key = plain === null ? null : digest(plain);
    const tid = tenantOf(event);
    const known =
      key === null
        ? undefined
        : await tx
            .selectFrom('ongoing')
            .select('audit_id')
            .where('tid', '=', tid)
            .where('key', '=', key)
            .where('until', '>', now)
            .where('until', '<=', now + oneDownload)
            .executeTakeFirst();
    if (known) return { id: known.audit_id, fresh: false };
    const id = await recordHappening(tx, happeningOf(event, ports, now));
    if (key === null) return { id, fresh: true };
    await tx.deleteFrom('ongoing').where('tid', '=', tid).where('key', '=', key).execute();
    await tx.insertInto('ongoing').values({ tid, key, audit_id: id, until }).execute();
    return { id, fresh: true };
  }

  function livingOf(key: string | null, now: number): Ongoing | undefined {
    const known = key === null ? undefined : ongoing.get(key);
    return known && isOngoing(known, now) ? known : undefined;
  }
  const addOne = (id: number, event: VisitEvent) => add(id, { tid: tenantOf(event), count: 1, bytes: null, outcome: null });

  /** Begins the row of an event that no row tells yet, or adds it to the one that the database knows. */
  function beginRow(event: VisitEvent, key: string, now: number): Promise<number> {
    const auditId = store.write(async (tx) => {
      const { id, fresh } = await rowFor(tx, event, key, now + together, now);
      if (!fresh)
        await tx
          .updateTable('audit')
          .set((row) => ({ count: row('count', '+', 1) }))
          .where('tid', '=', tenantOf(event))
          .where('id', '=', id)
          .execute();
      return id;
    });
    remember(key, auditId, now + together);
    return auditId;
  }

  async function record(event: VisitEvent): Promise<void> {
    const now = clock.now();
    const key = keyOf(event, null);
    const known = livingOf(key, now);
    if (known) addOne(await known.auditId, event);
    else await beginRow(event, key, now);
  }

  function writeLater(event: VisitEvent, at: number): void {
    if (unwritten.length < mostRemembered) unwritten.push({ event, at });
    soon();
  }

  function note(event: VisitEvent, at = clock.now()): void {
    const key = keyOf(event, null);
    const known = livingOf(key, at);
    const later = () => writeLater(event, at);
    // Most events equal one that has an entry: only its count changes.
    if (known) return void known.auditId.then((id) => addOne(id, event)).catch(later); // said for the first of them
    const auditId = beginRow(event, key, at);
    auditId.catch(later);
    tellIfFailed(auditId);
  }

  /** Keeps the entry of an archive that was requested before. */
  function toldApart(download: Download, now: number): Download {
    const { event, version } = download;
    return version !== null && livingOf(keyOf(event, version), now) ? download : choices(download);
  }

  async function begin(asked: VisitEvent, askedVersion: string | null, alert: boolean): Promise<ByteRecord> {
    const now = clock.now();
    const { event, version } = isChoice(asked)
      ? toldApart({ event: asked, version: askedVersion }, now)
      : { event: asked, version: askedVersion };
    const key = version === null ? null : keyOf(event, version);
    const living = livingOf(key, now);
    const auditId =
      living?.auditId ??
      store.write(async (tx) => {
        const { id, fresh } = await rowFor(tx, event, key, now + oneDownload, now);
        if (fresh && alert && event.link) await oweAlert(tx, event.link, id, event.action, now);
        return id;
      });
    if (key !== null && !living) remember(key, auditId, now + oneDownload);
    const id = await auditId;
    return { end: (outcome, bytes) => add(id, { tid: tenantOf(event), count: 0, bytes, outcome }) };
  }

  return {
    note: (event) => note(event),
    record,
    begin,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      await Promise.all(underWay);
      await flush().catch(failed);
      await Promise.all(underWay); // what was noted while the database was away
    },
  };
}
