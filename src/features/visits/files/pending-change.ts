import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { enqueueAlert } from '#features/alerts/enqueue-alert.ts';
import { appendAuditEntry } from '#features/audit/audit-entry.ts';
import { auditEntryOf } from '#features/audit/event-entry.ts';
import { checkStoreSpace } from '#features/health/check-store-space.ts';
import { confirmResponse, deleteResponse } from '#features/idempotency/pending-responses.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { AuthorizedVisit, VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import { type PendingFileChange, StorageAway } from '#ports/storage.ts';
import { StoreAway, type Tx } from '#ports/store.ts';

const tokenBits = 96;
const confirmedFor = 10_000; // ms that a confirmation is valid; a process that was paused for longer repeats the query

/** What an action that changes files is about. */
export interface FileChange {
  readonly action: PendingFileChange['action'];
  /** Path relative to the share's. */
  readonly path: ItemPath;
  readonly parent: ItemPath;
  readonly name: string;
  readonly newName?: string;
  readonly alert: boolean;
}

/** How it came out. */
export interface FileChangeOutcome<T> {
  readonly value: T;
  readonly path?: string;
  readonly bytes?: number;
  readonly after?: object;
}

/** The same with the answer. */
type StoreResponse = (tx: Tx, auditId: number) => Promise<void>;

/** A change that is recorded as begun. */
export interface PendingChange {
  /** Names what it puts aside meanwhile, and what tells recovery how far it came. */
  readonly token: string;
  /** Asked last of all before the change is made. @throws StoreAway where another process has recovered it meanwhile */
  readonly confirm: () => Promise<void>;
}

/** What a change does. */
export interface FileChangeSteps<T> {
  readonly act: (pending: PendingChange) => Promise<FileChangeOutcome<T>>;
  /** Clears that away: by then the outcome is recorded. What fails here is swept at the next start, and changes no answer. */
  readonly clear: (token: string) => Promise<void>;
  /** Has nothing come of it yet? Where it fails then, it leaves no audit entry. */
  readonly isEmpty?: () => boolean;
}

/**
 * Keeps the answer that a twin of the request will get, in the transaction of the beginning: it is given once the change
 * took place, though the process may have ended in between.
 */
export type StoreResponseOf<T> = (tx: Tx, value: T, auditId: number) => Promise<void>;

async function begin(
  ports: VisitPorts,
  { link, authenticated, visitorRequest }: AuthorizedVisit,
  change: FileChange,
  token: string,
  keep: StoreResponse | null,
): Promise<number> {
  const now = ports.clock.now();
  return ports.store.write(async (tx) => {
    const event = {
      link,
      visitor: authenticated?.signedIn ?? null,
      visitorRequest,
      action: change.action,
      outcome: 'begun',
      path: formatItemPath(change.path),
    } as const;
    const id = await appendAuditEntry(tx, auditEntryOf(event, ports, now));
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
  }, visitorTurn(visitorRequest.address));
}

async function end<T>(
  ports: VisitPorts,
  visit: AuthorizedVisit,
  change: FileChange,
  auditId: number,
  outcome: FileChangeOutcome<T>,
): Promise<void> {
  const { tid } = visit.link;
  await ports.store.write(async (tx) => {
    const isOurs = await deletePendingChange(tx, tid, auditId);
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
      await enqueueAlert(tx, visit.link, auditId, change.action, ports.clock.now());
    await confirmResponse(tx, tid, auditId);
  }, visitorTurn(visit.visitorRequest.address));
}

/** Ends a pending change. @returns false: it was ended before, by the process that began it or by one that recovered it */
export async function deletePendingChange(tx: Tx, tid: number, auditId: number): Promise<boolean> {
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
async function withdraw(ports: VisitPorts, { link: { tid }, visitorRequest }: AuthorizedVisit, auditId: number): Promise<void> {
  await ports.store.write(async (tx) => {
    if (!(await deletePendingChange(tx, tid, auditId))) return;
    await tx.deleteFrom('audit').where('tid', '=', tid).where('id', '=', auditId).execute();
    await deleteResponse(tx, tid, auditId);
  }, visitorTurn(visitorRequest.address));
}

async function fail(ports: VisitPorts, { link: { tid }, visitorRequest }: AuthorizedVisit, auditId: number): Promise<void> {
  await ports.store.write(async (tx) => {
    if (!(await deletePendingChange(tx, tid, auditId))) return;
    await tx.updateTable('audit').set({ outcome: 'failed' }).where('tid', '=', tid).where('id', '=', auditId).execute();
    await deleteResponse(tx, tid, auditId);
  }, visitorTurn(visitorRequest.address));
}

/**
 * Commits that an action has begun, acts, and commits its outcome and its alert together before it is answered
 * (decisions.md, "What the flags mean at the link"). What a crash cuts off in between is settled at the next start.
 */
export async function runPendingChange<T>(
  ports: VisitPorts,
  visit: AuthorizedVisit,
  change: FileChange,
  { act, clear, isEmpty }: FileChangeSteps<T>,
  keep: StoreResponse | null = null,
): Promise<T> {
  // Visitors leave room for the changes of integrators and operators.
  checkStoreSpace(ports.store, change.action === 'delete' ? 0 : ports.limits.minFreeSpace);
  const token = ports.random.token(tokenBits);
  ports.underWay.add(token);
  try {
    const auditId = await begin(ports, visit, change, token, keep);
    let outcome: FileChangeOutcome<T>;
    try {
      outcome = await act({ token, confirm: () => confirmPending(ports, visit.link.tid, auditId) });
    } catch (cause) {
      // The disk failed somewhere between the first step and the last: a look will tell whether it took place.
      if (!(cause instanceof StorageAway)) {
        await (isEmpty?.() ? withdraw : fail)(ports, visit, auditId);
        await clear(token).catch(() => {});
      }
      throw cause;
    }
    await end(ports, visit, change, auditId, outcome);
    await clear(token).catch(() => {});
    return outcome.value;
  } finally {
    ports.underWay.delete(token); // where its outcome could not be written, it is settled by a look
  }
}
