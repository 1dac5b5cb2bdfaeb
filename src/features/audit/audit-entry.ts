import { fold } from '#core/fold.ts';
import type { Outcome } from '#core/records/audit-entry.ts';
import type { Caller, ChangeAudit } from '#features/operation.ts';
import { insertRow } from '#features/records/insert-row.ts';
import type { Tx } from '#ports/store.ts';

const longText = 1000; // characters

/** One audit row before it is written; times in milliseconds since the epoch. */
export interface NewAuditEntry {
  readonly tid: number;
  readonly at: number;
  readonly actor: string;
  readonly actorKind: 'key' | 'operator' | 'visitor' | 'system';
  readonly address: string;
  readonly action: string;
  readonly outcome: Outcome;
  readonly share: { readonly id: number; readonly title: string; readonly viewId: string } | null;
  readonly path: string;
  readonly bytes: number | null;
  readonly before: object | null;
  readonly after: object | null;
  readonly requestId: string;
  /** Of an action under way: where. */
  readonly process: string | null;
}

const json = (value: object | null) => (value === null ? null : JSON.stringify(value));

/** Writes the audit row of what happened, in the transaction of what happened. @returns its id */
export function appendAuditEntry(tx: Tx, happening: NewAuditEntry): Promise<number> {
  const { share } = happening;
  return insertRow(tx, 'audit', {
    tid: happening.tid,
    at: happening.at,
    actor: happening.actor,
    actor_kind: happening.actorKind,
    address: happening.address,
    action: happening.action,
    outcome: happening.outcome,
    share_id: share?.id ?? null,
    share_title: share?.title ?? '',
    view_id: share?.viewId ?? '',
    path: happening.path,
    bytes: happening.bytes,
    before: json(happening.before),
    after: json(happening.after),
    request_id: happening.requestId,
    count: 1,
    process: happening.process,
    search_text: fold(
      [happening.actor, happening.address, happening.action, share?.title ?? '', happening.path.slice(0, longText)].join('\u001f'),
    ),
  });
}

/** A record without its long texts that stay the same: a share's lists may hold thousands of names, which each change would store twice. */
function withoutLongTexts(record: object | null, other: object | null): object | null {
  if (record === null || other === null) return record;
  const others = new Map<string, unknown>(Object.entries(other));
  const isLong = (value: unknown) => typeof value === 'string' && value.length > longText;
  return Object.fromEntries(Object.entries(record).filter(([field, value]) => !(isLong(value) && value === others.get(field))));
}

/** The audit row of a management change. */
export function appendChangeEntry(tx: Tx, caller: Caller, action: string, trail: ChangeAudit, now: number): Promise<number> {
  const { before = null, after = null } = trail;
  return appendAuditEntry(tx, {
    tid: caller.tid,
    at: now,
    actor: caller.name,
    actorKind: caller.kind,
    address: caller.address,
    action,
    outcome: 'done',
    share: trail.share ?? null,
    path: '',
    bytes: null,
    before: withoutLongTexts(before, after),
    after: withoutLongTexts(after, before),
    requestId: caller.requestId,
    process: null,
  });
}
