import { sql } from 'kysely';
import { shareUrl } from '#core/link.ts';
import { parseList } from '#core/list-text.ts';
import { type AlertAction, type AlertContent, type AlertedAction, endOfPath, maxNamedActions } from '#core/mail/alert-mail.ts';
import { restoredVisitor } from '#features/alerts/enqueue-alert.ts';
import { addMail } from '#features/outbox/add-mail.ts';
import type { Ports } from '#ports/ports.ts';
import type { Store, Tx } from '#ports/store.ts';
import { digestPauses } from './collect-alerts.ts';

const hour = 60 * 60_000; // ms
const maxMailsPerHour = 20; // alert mails about the same share
const maxWaitingMails = 20_000; // deliveries of a tenant: with that many, its alerts wait for a later mail
const pauseOfTenant = 60_000; // ms
const digestsPerMail = 100;
const digestsPerChange = 1000; // in one transaction, so that other changes get their turn
const alertsPerMail = 2000;

export type PlanPorts = Pick<Ports, 'store' | 'random' | 'links'>;
interface ShareRef {
  readonly tid: number;
  readonly share_id: number;
}

export async function hasDueDigest({ read, dialect }: Store): Promise<boolean> {
  const due = read.selectFrom('alert_digest').select('share_id').where(sql<boolean>`due_at <= ${dialect.now}`);
  return (await due.limit(1).executeTakeFirst()) !== undefined;
}

/** Returns how long the mails about a share must pause, in ms, because there were too many in the last hour. 0: not at all. */
async function pauseOf(tx: Tx, { tid, share_id }: ShareRef, now: number): Promise<number> {
  const recent = await tx
    .selectFrom('mail_content')
    .select('created_at')
    .where('tid', '=', tid)
    .where('share_id', '=', share_id)
    .where('kind', '=', 'alert')
    .where('created_at', '>', now - hour)
    .where('created_at', '<', now + hour) // a later one was stored while the clock was wrong
    .orderBy('created_at', 'desc')
    .limit(maxMailsPerHour)
    .execute();
  const oldest = recent.at(maxMailsPerHour - 1);
  return oldest ? Math.max(1, oldest.created_at + hour - now) : 0;
}

/** Returns whether the alerts of a tenant must wait: many deliveries wait, or one mail has recipients without a delivery yet. */
async function hasManyMails(tx: Tx, tid: number): Promise<boolean> {
  const pendingMails = tx.selectFrom('mail_content').select('id').where('tid', '=', tid).where('pending', '<>', '');
  if (await pendingMails.limit(1).executeTakeFirst()) return true;
  const mails = tx.selectFrom('delivery').select('id').where('tid', '=', tid).where('state', '=', 'waiting');
  return (
    (await mails
      .limit(1)
      .offset(maxWaitingMails - 1)
      .executeTakeFirst()) !== undefined
  );
}

const alertColumns = [
  'alert.audit_id',
  'alert.visitor',
  'alert.action',
  'audit.at',
  'audit.actor',
  'audit.address',
  'audit.path',
  'audit.bytes',
  'audit.after',
] as const;

const alertsOfDigests = (tx: Tx, { tid, share_id }: ShareRef, visitors: readonly string[]) =>
  tx
    .selectFrom('alert')
    .where('alert.tid', '=', tid)
    .where('alert.share_id', '=', share_id)
    .where('alert.visitor', 'in', [...visitors]);

/** Returns the `audit_id` of the last alert that fits in one mail, or undefined if the mail is not full. Reads only the key of `alert`. */
async function lastIdOfMail(tx: Tx, share: ShareRef, visitors: readonly string[]): Promise<number | undefined> {
  const ids = alertsOfDigests(tx, share, visitors).select('alert.audit_id').orderBy('alert.audit_id');
  const last = await ids
    .limit(1)
    .offset(alertsPerMail - 1)
    .executeTakeFirst();
  return last?.audit_id;
}

/** Returns the alerts of some digests with their audit entries. @param lastId id of the last alert to read; undefined: all */
function alertsOf(tx: Tx, share: ShareRef, visitors: readonly string[], lastId: number | undefined) {
  const alerts = alertsOfDigests(tx, share, visitors)
    .innerJoin('audit', (join) => join.onRef('audit.tid', '=', 'alert.tid').onRef('audit.id', '=', 'alert.audit_id'))
    .select(alertColumns)
    .orderBy('alert.audit_id');
  return (lastId === undefined ? alerts : alerts.where('alert.audit_id', '<=', lastId)).execute();
}
type AlertRow = Awaited<ReturnType<typeof alertsOf>>[number];

/** Deletes the alerts of some digests, also those whose audit entry is gone. @param lastId id of the last one to delete; undefined: all */
async function deleteAlerts(tx: Tx, { tid, share_id }: ShareRef, visitors: readonly string[], lastId: number | undefined): Promise<void> {
  const ofDigests = tx
    .deleteFrom('alert')
    .where('tid', '=', tid)
    .where('share_id', '=', share_id)
    .where('visitor', 'in', [...visitors]);
  await (lastId === undefined ? ofDigests : ofDigests.where('audit_id', '<=', lastId)).execute();
}

const actionNames = ['upload', 'createFolder', 'download', 'downloadFolder', 'view', 'rename', 'delete'] as const;
const actionOf = (name: string): AlertAction => actionNames.find((action) => action === name) ?? 'view';

function newNameOf(after: string | null): string {
  const value: unknown = after === null ? null : JSON.parse(after);
  const name: unknown = typeof value === 'object' && value !== null && 'name' in value ? value.name : '';
  return typeof name === 'string' ? name : '';
}

const alertedAction = ({ action, path, at, bytes, after, actor }: AlertRow): AlertedAction => ({
  ...{ action: actionOf(action), path: endOfPath(path), at, bytes, visitor: actor },
  newName: action === 'rename' ? endOfPath(newNameOf(after)) : '',
});

function contentOf(rows: readonly AlertRow[], share: { title: string; view_id: string }, publicUrl: string): AlertContent {
  const counts: Partial<Record<AlertAction, number>> = {};
  for (const { action } of rows) counts[actionOf(action)] = (counts[actionOf(action)] ?? 0) + 1;
  return {
    shareTitle: share.title,
    viewUrl: shareUrl(publicUrl, share.view_id),
    visitors: [...new Set(rows.map(({ actor }) => actor))],
    addresses: [...new Set(rows.map(({ address }) => address))],
    namedActions: rows.slice(0, maxNamedActions).map(alertedAction),
    counts,
  };
}

/**
 * Deletes the digests without an alert in this mail, and sets the time of the next mail for the other digests. If the alerts of a deleted
 * digest did not fit in the mail, `AlertCollector` adds a new digest.
 * @param active visitors with an alert in this mail
 */
async function continueDigests(
  { store }: PlanPorts,
  tx: Tx,
  { tid, share_id }: ShareRef,
  digests: readonly { readonly visitor: string; readonly step: number }[],
  active: ReadonlySet<string>,
): Promise<void> {
  for (const { visitor, step } of digests) {
    const next = Math.min(step + 1, digestPauses.length - 1);
    const due_at = sql<number>`${store.dialect.now} + ${digestPauses[next]}`;
    if (active.has(visitor))
      await tx
        .updateTable('alert_digest')
        .set({ step: next, due_at })
        .where('tid', '=', tid)
        .where('share_id', '=', share_id)
        .where('visitor', '=', visitor)
        .execute();
    else
      await tx.deleteFrom('alert_digest').where('tid', '=', tid).where('share_id', '=', share_id).where('visitor', '=', visitor).execute();
  }
}

/**
 * Of the first `digestsPerChange` due digests, postpones those of a tenant or share. Further calls postpone the rest.
 * @param pause ms
 */
async function postponeDigests(
  { store: { dialect } }: PlanPorts,
  tx: Tx,
  { tid, share_id }: { readonly tid: number; readonly share_id?: number },
  now: number,
  pause: number,
): Promise<void> {
  const row = sql.ref(dialect.rowId);
  const dueDigests = tx
    .selectFrom('alert_digest')
    .select([sql`${row}`.as('row'), 'tid', 'share_id'])
    .where('due_at', '<=', now);
  // With the condition on the tenant in the inner query, SQLite would use the primary key, and read all digests of the tenant.
  const firstDue = tx.selectFrom(dueDigests.orderBy('due_at').limit(digestsPerChange).as('first_due')).select('row').where('tid', '=', tid);
  const rows = share_id === undefined ? firstDue : firstDue.where('share_id', '=', share_id);
  await tx
    .updateTable('alert_digest')
    .set({ due_at: now + pause })
    .where(sql<boolean>`${row} in (${rows})`)
    .execute();
}

/** The language of alerts, and the domain of their message ids. */
export interface AlertOptions {
  readonly language: string;
  readonly domain: string;
}

/**
 * Plans one mail for up to `digestsPerMail` due digests of one share: the share whose digest has been due the longest. Postpones
 * digests instead if too many mails of the tenant wait, or if there were too many mails about the share in the last hour.
 * @returns false if no digest is due
 */
async function planNextShare(ports: PlanPorts, { language, domain }: AlertOptions): Promise<boolean> {
  const { store, links } = ports;
  return store.write(async (tx) => {
    const { rows } = await sql<{ now: number }>`select ${store.dialect.now} as now`.execute(tx);
    const now = Number(rows[0]?.now);
    const due = tx.selectFrom('alert_digest').where('due_at', '<=', now);
    const share = await due.select(['tid', 'share_id']).orderBy('due_at').limit(1).executeTakeFirst();
    if (!share) return false;
    const { tid, share_id } = share;
    if (await hasManyMails(tx, tid)) {
      await postponeDigests(ports, tx, { tid }, now, pauseOfTenant);
      return true;
    }
    const digests = due.where('tid', '=', tid).where('share_id', '=', share_id);
    const pause = await pauseOf(tx, share, now);
    if (pause > 0) {
      await postponeDigests(ports, tx, share, now, pause);
      return true;
    }
    const dueDigests = await digests.select(['visitor', 'step']).limit(digestsPerMail).execute();
    const visitors = dueDigests.map(({ visitor }) => visitor);
    const lastId = await lastIdOfMail(tx, share, visitors);
    const alerts = await alertsOf(tx, share, visitors, lastId);
    await continueDigests(ports, tx, share, dueDigests, new Set(alerts.map(({ visitor }) => visitor)));
    await deleteAlerts(tx, share, visitors, lastId);
    if (alerts.length === 0) return true;
    const columns = ['share.title', 'share.view_id', 'share.notify_emails'] as const;
    const current = await tx.selectFrom('share').select(columns).where('tid', '=', tid).where('id', '=', share_id).executeTakeFirst();
    const recipients = parseList(current?.notify_emails ?? '') ?? [];
    if (!current || recipients.length === 0) return true;
    const mail = { kind: 'alert', content: contentOf(alerts, current, links.publicUrl()) } as const;
    const isHeld = alerts.some(({ visitor }) => visitor === restoredVisitor);
    await addMail(ports, tx, { tid, shareId: share_id, mail, language, recipients, domain, isHeld });
    return true;
  }, 'job');
}

/** Plans the mails of all digests that are due. @param signal ends the work after the running step */
export async function planAlerts(ports: PlanPorts, options: AlertOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await planNextShare(ports, options)));
}
