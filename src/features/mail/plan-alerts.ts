import { sql } from 'kysely';
import { shareUrl } from '#core/link.ts';
import { parseList } from '#core/list-text.ts';
import { type AlertAction, type AlertContent, type AlertedAction, maxNamedActions } from '#core/mail/alert-mail.ts';
import { restoredVisitor } from '#features/alerts/enqueue-alert.ts';
import { addMail } from '#features/outbox/add-mail.ts';
import type { Ports } from '#ports/ports.ts';
import type { Store, Tx } from '#ports/store.ts';

const minute = 60_000; // ms
/** Time for which a visitor's actions are collected: longer while they continue. */
const pauses = [minute, 5 * minute, 15 * minute, 60 * minute] as const;
const hour = 60 * minute;
const maxMailsPerHour = 20; // about one share
const collectedPerChange = 500;
const digestsPerMail = 100;
const alertsPerMail = 2000;

export type PlanPorts = Pick<Ports, 'store' | 'random' | 'links'>;
interface ShareRef {
  readonly tid: number;
  readonly share_id: number;
}

/** Returns whether actions wait that no mail reports yet, or a digest is due. */
export async function hasAlertsToPlan({ read, dialect }: Store): Promise<boolean> {
  const uncollected = await read.selectFrom('alert').select('id').where('collected', '=', 0).limit(1).executeTakeFirst();
  if (uncollected) return true;
  const due = read.selectFrom('alert_digest').select('share_id').where(sql<boolean>`due_at <= ${dialect.now}`);
  return (await due.limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Assigns new alerts to the digests of their visitors.
 * @returns whether more may wait. The newest ones wait for the next run: while visitors are busy, a change for each few would slow them.
 */
async function collectAlerts({ store }: PlanPorts): Promise<boolean> {
  const { now } = store.dialect;
  return store.write(async (tx) => {
    const uncollected = tx.selectFrom('alert').where('collected', '=', 0);
    const alerts = await uncollected.select(['id', 'tid']).orderBy('id').limit(collectedPerChange).execute();
    const last = alerts.at(-1);
    if (!last) return false;
    // By tenant and last id these are the alerts above: the transaction sees no others, and a list of their ids would cost more.
    for (const tid of new Set(alerts.map((alert) => alert.tid))) {
      const digests = uncollected
        .select(['tid', 'share_id', 'visitor', sql<number>`${now} + ${sql.lit(pauses[0])}`.as('due_at'), sql.lit(0).as('step')])
        .distinct()
        .where('tid', '=', tid)
        .where('id', '<=', last.id);
      await tx
        .insertInto('alert_digest')
        .columns(['tid', 'share_id', 'visitor', 'due_at', 'step'])
        .expression(digests)
        .onConflict((conflict) => conflict.columns(['tid', 'share_id', 'visitor']).doNothing())
        .execute();
      const collected = tx.updateTable('alert').set({ collected: 1 }).where('tid', '=', tid);
      await collected.where('collected', '=', 0).where('id', '<=', last.id).execute();
    }
    return alerts.length === collectedPerChange;
  }, 'job');
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

const alertColumns = [
  'alert.id',
  'alert.visitor',
  'alert.action',
  'audit.at',
  'audit.actor',
  'audit.address',
  'audit.path',
  'audit.bytes',
  'audit.after',
] as const;

/** Returns the oldest alerts of some digests. */
const alertsOf = (tx: Tx, { tid, share_id }: ShareRef, visitors: readonly string[]) =>
  tx
    .selectFrom('alert')
    .innerJoin('audit', (join) => join.onRef('audit.tid', '=', 'alert.tid').onRef('audit.id', '=', 'alert.audit_id'))
    .select(alertColumns)
    .where('alert.tid', '=', tid)
    .where('alert.share_id', '=', share_id)
    .where('alert.collected', '=', 1)
    .where('alert.visitor', 'in', [...visitors])
    .orderBy('alert.id')
    .limit(alertsPerMail)
    .execute();
type AlertRow = Awaited<ReturnType<typeof alertsOf>>[number];

const actionNames = ['upload', 'createFolder', 'download', 'downloadFolder', 'view', 'rename', 'delete'] as const;
const actionOf = (name: string): AlertAction => actionNames.find((action) => action === name) ?? 'view';

function newNameOf(after: string | null): string {
  const value: unknown = after === null ? null : JSON.parse(after);
  const name: unknown = typeof value === 'object' && value !== null && 'name' in value ? value.name : '';
  return typeof name === 'string' ? name : '';
}

const alertedAction = ({ action, path, at, bytes, after, actor }: AlertRow): AlertedAction => ({
  ...{ action: actionOf(action), path, at, bytes, visitor: actor },
  newName: action === 'rename' ? newNameOf(after) : '',
});

function contentOf(rows: readonly AlertRow[], share: { title: string; view_id: string }, publicUrl: string): AlertContent {
  const counts: Partial<Record<AlertAction, number>> = {};
  for (const { action } of rows) counts[actionOf(action)] = (counts[actionOf(action)] ?? 0) + 1;
  return {
    shareTitle: share.title,
    viewUrl: shareUrl(publicUrl, share.view_id),
    visitors: [...new Set(rows.map(({ actor }) => actor))],
    addresses: [...new Set(rows.map(({ address }) => address))],
    named: rows.slice(0, maxNamedActions).map(alertedAction),
    counts,
  };
}

/** Ends the digests whose visitor has paused, and sets the next mail of the others. */
async function continueDigests(
  { store }: PlanPorts,
  tx: Tx,
  { tid, share_id }: ShareRef,
  digests: readonly { readonly visitor: string; readonly step: number }[],
  active: ReadonlySet<string>,
): Promise<void> {
  for (const { visitor, step } of digests) {
    const next = Math.min(step + 1, pauses.length - 1);
    const due_at = sql<number>`${store.dialect.now} + ${pauses[next]}`;
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

/** How alerts are written. */
export interface AlertOptions {
  readonly language: string;
  readonly domain: string;
}

/** Plans one mail about the share whose digest has been due the longest, for all its digests that are due. @returns false if none is */
async function planNextShare(ports: PlanPorts, { language, domain }: AlertOptions): Promise<boolean> {
  const { store, links } = ports;
  return store.write(async (tx) => {
    const { rows } = await sql<{ now: number }>`select ${store.dialect.now} as now`.execute(tx);
    const now = Number(rows[0]?.now);
    const due = tx.selectFrom('alert_digest').where('due_at', '<=', now);
    const share = await due.select(['tid', 'share_id']).orderBy('due_at').limit(1).executeTakeFirst();
    if (!share) return false;
    const { tid, share_id } = share;
    const digests = due.where('tid', '=', tid).where('share_id', '=', share_id);
    const pause = await pauseOf(tx, share, now);
    if (pause > 0) {
      const postponed = tx.updateTable('alert_digest').set({ due_at: now + pause });
      await postponed.where('tid', '=', tid).where('share_id', '=', share_id).where('due_at', '<=', now).execute();
      return true;
    }
    const dueDigests = await digests.select(['visitor', 'step']).limit(digestsPerMail).execute();
    const alerts = await alertsOf(
      tx,
      share,
      dueDigests.map(({ visitor }) => visitor),
    );
    await continueDigests(ports, tx, share, dueDigests, new Set(alerts.map(({ visitor }) => visitor)));
    if (alerts.length === 0) return true;
    const ids = alerts.map(({ id }) => id);
    await tx.deleteFrom('alert').where('tid', '=', tid).where('id', 'in', ids).execute();
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

/** Plans the mails about all actions that are due. @param signal ends the work after the running step */
export async function planAlerts(ports: PlanPorts, options: AlertOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await collectAlerts(ports)));
  while (!signal.aborted && (await planNextShare(ports, options)));
}
