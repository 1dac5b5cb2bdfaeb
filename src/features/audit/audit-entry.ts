import { fold } from '#core/fold.ts';
import type { Outcome } from '#core/records/audit-entry.ts';
import type { Caller, ChangeAudit } from '#features/operation.ts';
import { insertRowWithId } from '#features/records/insert-row.ts';
import type { Tx } from '#ports/store.ts';

const maxTextLength = 1000; // characters

/** An audit entry before it is written. Times are in milliseconds since the epoch. */
export interface NewAuditEntry {
  readonly tid: number;
  readonly at: number;
  /** Display name. */
  readonly actor: string;
  /** Key of the visitor's identity; absent or null: no visitor has signed in. */
  readonly identityKey?: string | null;
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
  /** The process that runs a pending action, else null. */
  readonly process: string | null;
  /** Number in the trace marks of the files that the visitor got; absent or null: they carry none. */
  readonly traceId?: number | null;
}

const jsonOrNull = (value: object | null) => (value === null ? null : JSON.stringify(value));

/** Returns the reference that a page shows for a refused sign-in, so that operators can search for it; or an empty string. */
const referenceOf = (after: object | null): string => (after !== null && 'reference' in after ? String(after.reference) : '');

/** Appends an audit entry; if it records a change, in the transaction of the change. @returns its id */
export function appendAuditEntry(tx: Tx, entry: NewAuditEntry): Promise<number> {
  const { share } = entry;
  return insertRowWithId(tx, 'audit', {
    tid: entry.tid,
    at: entry.at,
    actor: entry.actor,
    actor_kind: entry.actorKind,
    address: entry.address,
    action: entry.action,
    outcome: entry.outcome,
    share_id: share?.id ?? null,
    share_title: share?.title ?? '',
    view_id: share?.viewId ?? '',
    path: entry.path,
    bytes: entry.bytes,
    before: jsonOrNull(entry.before),
    after: jsonOrNull(entry.after),
    request_id: entry.requestId,
    count: 1,
    process: entry.process,
    identity_key: entry.identityKey ?? null,
    trace_id: entry.traceId ?? null,
    search_text: fold(
      [entry.actor, entry.address, entry.action, share?.title ?? '', entry.path.slice(0, maxTextLength), referenceOf(entry.after)].join(
        '\u001f',
      ),
    ),
  });
}

/**
 * Returns a record without the long texts that are equal in the other record. Otherwise each change of a share would store
 * its lists of thousands of names twice.
 */
function withoutLongTexts(record: object | null, other: object | null): object | null {
  if (record === null || other === null) return record;
  const otherValues = new Map<string, unknown>(Object.entries(other));
  const isLong = (value: unknown) => typeof value === 'string' && value.length > maxTextLength;
  return Object.fromEntries(Object.entries(record).filter(([field, value]) => !(isLong(value) && value === otherValues.get(field))));
}

/** Appends the audit entry of a management change, or of an operator's sign-in or sign-out. @returns its id */
export function appendChangeEntry(tx: Tx, caller: Caller, action: string, changeAudit: ChangeAudit, now: number): Promise<number> {
  const { before = null, after = null } = changeAudit;
  return appendAuditEntry(tx, {
    tid: caller.tid,
    at: now,
    actor: caller.name,
    actorKind: caller.kind,
    address: caller.address,
    action,
    outcome: 'done',
    share: changeAudit.share ?? null,
    path: '',
    bytes: null,
    before: withoutLongTexts(before, after),
    after: withoutLongTexts(after, before),
    requestId: caller.requestId,
    process: null,
  });
}
