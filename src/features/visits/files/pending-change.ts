import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { oweAlert } from '#features/alerts/enqueue-alert.ts';
import { recordHappening } from '#features/audit/audit-entry.ts';
import { happeningOf } from '#features/audit/event-entry.ts';
import { checkRoom } from '#features/health/check-store-space.ts';
import { confirmAnswer, forgetAnswer } from '#features/idempotency/pending-responses.ts';
import { visitorAt } from '#features/turns/visitor-turns.ts';
import type { Entered, VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import { type BegunChange, StorageAway } from '#ports/storage.ts';
import { StoreAway, type Tx } from '#ports/store.ts';

const tokenBits = 96;
const confirmedFor = 10_000; // ms that a confirmation is valid; a process that was paused for longer repeats the query

/** What an action that changes files is about. */
export interface FileChange {
  readonly action: BegunChange['does'];
  /** Path relative to the share's. */
  readonly path: ItemPath;
  readonly parent: ItemPath;
  readonly name: string;
  readonly newName?: string;
  readonly alert: boolean;
}

/** How it came out. */
export interface FileOutcome<T> {
  readonly value: T;
  readonly path?: string;
  readonly bytes?: number;
  readonly after?: object;
}

/** The same with the answer. */
type KeepAnswer = (tx: Tx, auditId: number) => Promise<void>;

/** A change that is recorded as begun. */
export interface PendingChange {
  /** Names what it puts aside meanwhile, and what tells recovery how far it came. */
  readonly token: string;
  /** Asked last of all before the change is made. @throws StoreAway where another process has recovered it meanwhile */
  readonly confirm: () => Promise<void>;
}

/** What a change does. */
export interface ChangeWork<T> {
  readonly act: (pending: PendingChange) => Promise<FileOutcome<T>>;
  /** Clears that away: by then the outcome is recorded. What fails here is swept at the next start, and changes no answer. */
  readonly clear: (token: string) => Promise<void>;
  /** Has nothing come of it yet? Where it fails then, it leaves no audit entry. */
  readonly isEmpty?: () => boolean;
}

/**
 * Keeps the answer that a twin of the request will get, in the transaction of the beginning: it is given once the change
 * took place, though the process may have ended in between.
 */
export type Keep<T> = (tx: Tx, value: T, auditId: number) => Promise<void>;

async function begin(
  ports: VisitPorts,
  { link, recognised, approaching }: Entered,
  change: FileChange,
  token: string,
  keep: KeepAnswer | null,
): Promise<number> {
  const now = ports.clock.now();
  return ports.store.write(async (tx) => {
    const event = {
      link,
      visitor: recognised?.signedIn ?? null,
      approaching,
      action: change.action,
      outcome: 'begun',
      path: formatItemPath(change.path),
    } as const;
    const id = await recordHappening(tx, happeningOf(event, ports, now));
    await tx
      .insertInto('unsettled')
      .values({
        tid: link.tid,
        audit_id: id,
        location_id: link.location_id,
        parent: formatItemPath(change.parent),
        name: change.name,
        new_name: change.newName ?? '',
        token,
        process: ports.process,
      })
      .execute();
    await keep?.(tx, id);
    return id;
  }, visitorAt(approaching.address));
}

async function end<T>(ports: VisitPorts, entered: Entered, change: FileChange, auditId: number, outcome: FileOutcome<T>): Promise<void> {
  const { tid } = entered.link;
  await ports.store.write(async (tx) => {
    const isOurs = await takePending(tx, tid, auditId);
    const before = isOurs
      ? undefined
      : await tx.selectFrom('audit').select('outcome').where('tid', '=', tid).where('id', '=', auditId).executeTakeFirst();
    await tx
      .updateTable('audit')
      .set({
        outcome: 'done',
        bytes: outcome.bytes ?? null,
        ...(outcome.path ? { path: outcome.path } : {}),
        ...(outcome.after ? { after: JSON.stringify(outcome.after) } : {}),
      })
      .where('tid', '=', tid)
      .where('id', '=', auditId)
      .execute();
    // Where another process has recovered it meanwhile as done, that one owes the alert.
    if (change.alert && (isOurs || before?.outcome === 'failed'))
      await oweAlert(tx, entered.link, auditId, change.action, ports.clock.now());
    await confirmAnswer(tx, tid, auditId);
  }, visitorAt(entered.approaching.address));
}

/** Ends a pending change. @returns false: it was ended before, by the process that began it or by one that recovered it */
export async function takePending(tx: Tx, tid: number, auditId: number): Promise<boolean> {
  const [pending] = await tx.deleteFrom('unsettled').where('tid', '=', tid).where('audit_id', '=', auditId).execute();
  return Number(pending?.numDeletedRows) > 0;
}

/**
 * A process that stood still for more than a minute finds its changes recovered by another, and perhaps repeated there:
 * it must not make them any more.
 */
async function confirmPending({ store, clock, process }: VisitPorts, tid: number, auditId: number): Promise<void> {
  let asked: number;
  do {
    asked = clock.now();
    const pending = await store.read
      .selectFrom('unsettled')
      .select('process')
      .where('tid', '=', tid)
      .where('audit_id', '=', auditId)
      .executeTakeFirst();
    if (pending?.process !== process) throw new StoreAway('another process has recovered the change');
  } while (clock.now() - asked >= confirmedFor);
}

/** Deletes the entry of a change that was refused before anything came of it: refused again and again, it would fill the disk. */
async function withdraw(ports: VisitPorts, { link: { tid }, approaching }: Entered, auditId: number): Promise<void> {
  await ports.store.write(async (tx) => {
    if (!(await takePending(tx, tid, auditId))) return;
    await tx.deleteFrom('audit').where('tid', '=', tid).where('id', '=', auditId).execute();
    await forgetAnswer(tx, tid, auditId);
  }, visitorAt(approaching.address));
}

async function fail(ports: VisitPorts, { link: { tid }, approaching }: Entered, auditId: number): Promise<void> {
  await ports.store.write(async (tx) => {
    if (!(await takePending(tx, tid, auditId))) return;
    await tx.updateTable('audit').set({ outcome: 'failed' }).where('tid', '=', tid).where('id', '=', auditId).execute();
    await forgetAnswer(tx, tid, auditId);
  }, visitorAt(approaching.address));
}

/**
 * Commits that an action has begun, acts, and commits its outcome and its alert together before it is answered
 * (decisions.md, "What the flags mean at the link"). What a crash cuts off in between is settled at the next start.
 */
export async function changeFiles<T>(
  ports: VisitPorts,
  entered: Entered,
  change: FileChange,
  { act, clear, isEmpty }: ChangeWork<T>,
  keep: KeepAnswer | null = null,
): Promise<T> {
  // Visitors leave room for the changes of integrators and operators.
  checkRoom(ports.store, change.action === 'delete' ? 0 : ports.limits.minFreeSpace);
  const token = ports.random.token(tokenBits);
  ports.underWay.add(token);
  try {
    const auditId = await begin(ports, entered, change, token, keep);
    let outcome: FileOutcome<T>;
    try {
      outcome = await act({ token, confirm: () => confirmPending(ports, entered.link.tid, auditId) });
    } catch (cause) {
      // The disk failed somewhere between the first step and the last: a look will tell whether it took place.
      if (!(cause instanceof StorageAway)) {
        await (isEmpty?.() ? withdraw : fail)(ports, entered, auditId);
        await clear(token).catch(() => {});
      }
      throw cause;
    }
    await end(ports, entered, change, auditId, outcome);
    await clear(token).catch(() => {});
    return outcome.value;
  } finally {
    ports.underWay.delete(token); // where its outcome could not be written, it is settled by a look
  }
}
