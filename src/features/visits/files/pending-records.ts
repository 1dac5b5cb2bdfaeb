import { formatItemPath, joinPaths, parseSegments, rootPath } from '#core/item-path.ts';
import { enqueueAlert } from '#features/alerts/enqueue-alert.ts';
import { appendAuditEntry } from '#features/audit/audit-entry.ts';
import { auditEntryOf } from '#features/audit/event-entry.ts';
import { confirmResponse, deleteResponse } from '#features/idempotency/pending-responses.ts';
import { ensureReported } from '#features/processes/running-processes.ts';
import { checkQuota } from '#features/quotas/check-quota.ts';
import { recordSpaceChange, requestCount } from '#features/quotas/counted-folders.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { Ports } from '#ports/ports.ts';
import { StoreUnavailable, type Tx } from '#ports/store.ts';
import { firstClaim } from './byte-claimer.ts';
import type { FileChange, FileChangeOutcome, FileChangeSteps, SaveResponse } from './file-change.ts';

const maxQueryTime = 10_000; // ms; a slower query is repeated: if the process was paused, the result may be out of date

/** Records a change as pending. @throws Refusal (507) if it exceeds a quota */
export async function recordPending(
  ports: Pick<Ports, 'store' | 'clock' | 'process'>,
  { link, authenticated, visitorRequest }: AuthorizedVisit,
  change: FileChange,
  token: string,
  saveResponse: SaveResponse | null,
): Promise<number> {
  const now = ports.clock.now();
  return ports.store.write(async (tx) => {
    if (change.claim) await checkQuota(tx, link, change.claim, now);
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
        // A replacement frees the space of the old file only when it is done, so it claims no negative numbers.
        bytes: firstClaim(change.claim?.bytes ?? 0),
        files: Math.max(0, change.claim?.files ?? 0),
        started: 0,
      })
      .execute();
    await saveResponse?.(tx, id);
    return id;
  }, visitorTurn(visitorRequest.address));
}

export async function recordDone<T>(
  ports: Pick<Ports, 'store' | 'clock' | 'process'>,
  visit: AuthorizedVisit,
  change: FileChange,
  auditId: number,
  outcome: FileChangeOutcome<T>,
  recordAlso?: FileChangeSteps<T>['recordAlso'],
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
      const alertEvent = { auditId, action: change.action, identityKey, address: visit.visitorRequest.address };
      await enqueueAlert(tx, visit.link, alertEvent, ports.clock.now());
    }
    await recordAlso?.(tx);
    if (outcome.space) {
      const path = joinPaths(change.parent, parseSegments([change.name]) ?? rootPath);
      const item = { tid, locationId: visit.link.location_id, path };
      // If another process has recovered the change, a count of the folder may already include it: then the folder is counted again.
      const isCounted = outcome.space !== 'unknown' && wasPending;
      if (isCounted) await recordSpaceChange(tx, item, outcome.space, ports.store.isShared ? auditId : 0);
      if (!isCounted || outcome.space.mayDiffer) await requestCount(tx, item);
    }
    await confirmResponse(tx, tid, auditId);
  }, visitorTurn(visit.visitorRequest.address));
}

/**
 * Deletes the record of a pending change.
 * @param process if given, deletes it only if the change belongs to this process
 * @returns false if the change is no longer pending, or belongs to another process than `process`
 */
export async function deletePendingChange(tx: Tx, tid: number, auditId: number, process?: string): Promise<boolean> {
  const row = tx.deleteFrom('unsettled').where('tid', '=', tid).where('audit_id', '=', auditId);
  const [result] = await (process === undefined ? row : row.where('process', '=', process)).execute();
  return Number(result?.numDeletedRows) > 0;
}

type ConfirmationPorts = Pick<Ports, 'store' | 'clock' | 'process'>;

/** @param owner process to which the change must belong; null: any @throws StoreUnavailable */
async function confirmOwner(ports: ConfirmationPorts, tid: number, auditId: number, owner: string | null): Promise<void> {
  const { store, clock } = ports;
  let queriedAt: number;
  do {
    queriedAt = clock.now();
    await ensureReported(ports);
    const query = store.read.selectFrom('unsettled').select('process').where('tid', '=', tid).where('audit_id', '=', auditId);
    const pending = await query.executeTakeFirst();
    if (!pending || (owner !== null && pending.process !== owner))
      throw new StoreUnavailable('another process recovers or has recovered the change');
  } while (clock.now() - queriedAt >= maxQueryTime);
}

/**
 * Checks that the change is still pending in this process. If this process was paused for more than
 * a minute, another process may have recovered its changes, and clients may have repeated them:
 * this process must not make them any more.
 * @throws StoreUnavailable if another process has begun to recover the change
 */
export const confirmPending = (ports: ConfirmationPorts, tid: number, auditId: number): Promise<void> =>
  confirmOwner(ports, tid, auditId, ports.process);

/**
 * Checks that the outcome of a change is still unknown, whichever process it belongs to.
 * @throws StoreUnavailable if another process has found it out
 */
export const confirmUnknown = (ports: ConfirmationPorts, tid: number, auditId: number): Promise<void> =>
  confirmOwner(ports, tid, auditId, null);

export async function recordHandle(
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

/**
 * Ends a pending change that has failed. Does nothing if another process has begun to recover it.
 * @param changeEntry changes or deletes its audit entry
 * @returns whether the change was still pending in this process
 */
function endFailed(
  { store, process }: Pick<Ports, 'store' | 'process'>,
  { link: { tid }, visitorRequest }: AuthorizedVisit,
  auditId: number,
  changeEntry: (tx: Tx, tid: number) => Promise<unknown>,
): Promise<boolean> {
  return store.write(async (tx) => {
    if (!(await deletePendingChange(tx, tid, auditId, process))) return false;
    await changeEntry(tx, tid);
    await deleteResponse(tx, tid, auditId);
    return true;
  }, visitorTurn(visitorRequest.address));
}

/**
 * Deletes a pending change that failed before it had an effect, with its audit entry. If the entries were kept, repeated
 * failures would fill the disk.
 */
export const deletePendingEntry = (ports: Pick<Ports, 'store' | 'process'>, visit: AuthorizedVisit, auditId: number): Promise<boolean> =>
  endFailed(ports, visit, auditId, (tx, tid) => tx.deleteFrom('audit').where('tid', '=', tid).where('id', '=', auditId).execute());

export const recordFailed = (ports: Pick<Ports, 'store' | 'process'>, visit: AuthorizedVisit, auditId: number): Promise<boolean> =>
  endFailed(ports, visit, auditId, (tx, tid) =>
    tx.updateTable('audit').set({ outcome: 'failed' }).where('tid', '=', tid).where('id', '=', auditId).execute(),
  );
