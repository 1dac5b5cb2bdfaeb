import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { enqueueAlert } from '#features/alerts/enqueue-alert.ts';
import { appendAuditEntry } from '#features/audit/audit-entry.ts';
import { auditEntryOf } from '#features/audit/event-entry.ts';
import { checkStoreSpace } from '#features/health/check-store-space.ts';
import { confirmResponse, deleteResponse } from '#features/idempotency/pending-responses.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Ports } from '#ports/ports.ts';
import { type PendingFileChange, StorageUnavailable } from '#ports/storage.ts';
import { StoreUnavailable, type Tx } from '#ports/store.ts';

const tokenBits = 96;
const maxQueryTime = 10_000; // ms; a slower query is repeated, because the process may have been paused, and the result may be out of date

/** A change of a file or folder. */
export interface FileChange {
  readonly action: PendingFileChange['action'];
  /** Path relative to the root of the share. */
  readonly path: ItemPath;
  readonly parent: ItemPath;
  readonly name: string;
  readonly newName?: string;
  readonly alert: boolean;
}

/** The result of a change. */
export interface FileChangeOutcome<T> {
  readonly value: T;
  readonly path?: string;
  readonly bytes?: number;
  readonly after?: object;
}

/** `SaveResponseOf` with the response already bound. */
type SaveResponse = (tx: Tx, auditId: number) => Promise<void>;

/** A change that is recorded as pending. */
export interface PendingChange {
  /** Part of the names of the files of the change in the staging area, which show recovery the steps that were done. */
  readonly token: string;
  /** Called as the last step before a folder is created, or an item renamed or deleted. @throws StoreUnavailable if another process has recovered it meanwhile */
  readonly confirm: () => Promise<void>;
  /** Records the handle of an upload. Must be called before its first byte is written, so that recovery can find it. */
  readonly recordHandle: (handle: string) => Promise<void>;
}

/** The steps of a change. */
export interface FileChangeSteps<T> {
  readonly apply: (pending: PendingChange) => Promise<FileChangeOutcome<T>>;
  /**
   * Deletes the files of the change in the staging area, after the outcome is recorded. A failure does not change the
   * response: the next sweep deletes them.
   */
  readonly deleteEvidence: (token: string) => Promise<void>;
  /** Returns whether the change has had no effect yet. If it fails then, its audit entry is deleted. */
  readonly hasNoEffect?: () => boolean;
}

/**
 * Stores the response for duplicates of the request, in the transaction that records the change as pending. Duplicates get it
 * once the change has taken place, even if the process ended in between.
 */
export type SaveResponseOf<T> = (tx: Tx, value: T, auditId: number) => Promise<void>;

async function recordPending(
  ports: Pick<Ports, 'store' | 'clock' | 'process'>,
  { link, authenticated, visitorRequest }: AuthorizedVisit,
  change: FileChange,
  token: string,
  saveResponse: SaveResponse | null,
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
    await saveResponse?.(tx, id);
    return id;
  }, visitorTurn(visitorRequest.address));
}

async function recordDone<T>(
  ports: Pick<Ports, 'store' | 'clock' | 'process'>,
  visit: AuthorizedVisit,
  change: FileChange,
  auditId: number,
  outcome: FileChangeOutcome<T>,
): Promise<void> {
  const { tid } = visit.link;
  await ports.store.write(async (tx) => {
    const wasPending = await deletePendingChange(tx, tid, auditId);
    const existing = wasPending
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
    // If another process has recovered the change as done meanwhile, it has enqueued the alert.
    if (change.alert && (wasPending || existing?.outcome === 'failed')) {
      const identityKey = visit.authenticated?.signedIn.identityKey ?? null;
      const alerted = { auditId, action: change.action, identityKey, address: visit.visitorRequest.address };
      await enqueueAlert(tx, visit.link, alerted, ports.clock.now());
    }
    await confirmResponse(tx, tid, auditId);
  }, visitorTurn(visit.visitorRequest.address));
}

/**
 * Deletes the record of a pending change.
 * @returns false if there is none, because the process that began the change or one that recovered it has deleted it
 */
export async function deletePendingChange(tx: Tx, tid: number, auditId: number): Promise<boolean> {
  const [result] = await tx.deleteFrom('unsettled').where('tid', '=', tid).where('audit_id', '=', auditId).execute();
  return Number(result?.numDeletedRows) > 0;
}

/**
 * Checks that the change is still pending in this process. If a process was paused for more than a minute, another process may
 * have recovered its changes, and clients may have repeated them: it must not make them any more.
 * @throws StoreUnavailable if another process has recovered the change
 */
async function confirmPending(
  { store, clock, process }: Pick<Ports, 'store' | 'clock' | 'process'>,
  tid: number,
  auditId: number,
): Promise<void> {
  let queriedAt: number;
  do {
    queriedAt = clock.now();
    const pending = await store.read
      .selectFrom('unsettled')
      .select('process')
      .where('tid', '=', tid)
      .where('audit_id', '=', auditId)
      .executeTakeFirst();
    if (pending?.process !== process) throw new StoreUnavailable('another process has recovered the change');
  } while (clock.now() - queriedAt >= maxQueryTime);
}

async function recordHandle(
  { store }: Pick<Ports, 'store'>,
  { link: { tid }, visitorRequest }: AuthorizedVisit,
  auditId: number,
  handle: string,
): Promise<void> {
  await store.write(
    (tx) => tx.updateTable('unsettled').set({ handle }).where('tid', '=', tid).where('audit_id', '=', auditId).execute(),
    visitorTurn(visitorRequest.address),
  );
}

/** Deletes the audit entry of a change that failed before it had an effect: repeated failures would fill the disk. */
async function deletePendingEntry(
  ports: Pick<Ports, 'store'>,
  { link: { tid }, visitorRequest }: AuthorizedVisit,
  auditId: number,
): Promise<void> {
  await ports.store.write(async (tx) => {
    if (!(await deletePendingChange(tx, tid, auditId))) return;
    await tx.deleteFrom('audit').where('tid', '=', tid).where('id', '=', auditId).execute();
    await deleteResponse(tx, tid, auditId);
  }, visitorTurn(visitorRequest.address));
}

async function recordFailed(
  ports: Pick<Ports, 'store'>,
  { link: { tid }, visitorRequest }: AuthorizedVisit,
  auditId: number,
): Promise<void> {
  await ports.store.write(async (tx) => {
    if (!(await deletePendingChange(tx, tid, auditId))) return;
    await tx.updateTable('audit').set({ outcome: 'failed' }).where('tid', '=', tid).where('id', '=', auditId).execute();
    await deleteResponse(tx, tid, auditId);
  }, visitorTurn(visitorRequest.address));
}

/** What a change of files uses. */
export type ChangePorts = Pick<Ports, 'store' | 'clock' | 'random' | 'process' | 'limits'> & Pick<VisitServices, 'runningChanges'>;

/**
 * Records a change as pending, makes it, and commits its outcome and its alert together before the response. Another process, or
 * the next start, recovers a change that a crash interrupted.
 * @throws what `apply` throws; StoreFull, StoreUnavailable
 */
export async function runPendingChange<T>(
  ports: ChangePorts,
  visit: AuthorizedVisit,
  change: FileChange,
  { apply, deleteEvidence, hasNoEffect }: FileChangeSteps<T>,
  saveResponse: SaveResponse | null = null,
): Promise<T> {
  // Visitors must leave free space for the changes of integrators and operators.
  checkStoreSpace(ports.store, change.action === 'delete' ? 0 : ports.limits.minFreeSpace);
  const token = ports.random.token(tokenBits);
  ports.runningChanges.add(token);
  try {
    const auditId = await recordPending(ports, visit, change, token, saveResponse);
    let outcome: FileChangeOutcome<T>;
    try {
      outcome = await apply({
        token,
        confirm: () => confirmPending(ports, visit.link.tid, auditId),
        recordHandle: (handle) => recordHandle(ports, visit, auditId, handle),
      });
    } catch (cause) {
      // After StorageUnavailable the change may have taken place or not: it stays pending, and recovery finds out.
      if (!(cause instanceof StorageUnavailable)) {
        await (hasNoEffect?.() ? deletePendingEntry : recordFailed)(ports, visit, auditId);
        await deleteEvidence(token).catch(() => {});
      }
      throw cause;
    }
    await recordDone(ports, visit, change, auditId, outcome);
    await deleteEvidence(token).catch(() => {});
    return outcome.value;
  } finally {
    ports.runningChanges.delete(token); // if its outcome could not be written, recovery may now take it
  }
}
