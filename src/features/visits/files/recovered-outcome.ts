import { formatItemPath, joinPaths, parseSegments, parseStoredPath, withName } from '#core/item-path.ts';
import { enqueueAlert } from '#features/alerts/enqueue-alert.ts';
import { confirmResponse, deleteResponse } from '#features/idempotency/pending-responses.ts';
import { recordSpaceChange, requestCount } from '#features/quotas/counted-folders.ts';
import type { PendingFileChange } from '#ports/storage.ts';
import type { Tx } from '#ports/store.ts';
import { deletePendingChange } from './pending-records.ts';
import { recordCompleteUpload } from './unfinished-uploads.ts';

const changeActions: readonly string[] = ['upload', 'createFolder', 'rename', 'delete'] satisfies PendingFileChange['action'][];
const isChange = (action: string): action is PendingFileChange['action'] => changeActions.includes(action);

/** Returns a query for pending changes, with the columns from which they are recovered. */
export const pendingRows = (db: Tx) =>
  db
    .selectFrom('unsettled')
    .innerJoin('audit', (join) => join.onRef('audit.tid', '=', 'unsettled.tid').onRef('audit.id', '=', 'unsettled.audit_id'))
    .select([
      'unsettled.audit_id',
      'unsettled.location_id',
      'unsettled.process',
      'parent',
      'unsettled.name',
      'new_name',
      'token',
      'handle',
      'unsettled.bytes as claimed_bytes',
      'unsettled.files as claimed_files',
      'audit.action',
      'audit.share_id',
      'audit.identity_key',
      'audit.address',
      'audit.path',
      'audit.tid',
    ]);

export type PendingRow = Awaited<ReturnType<ReturnType<typeof pendingRows>['execute']>>[number];

export function changeOf({ action, parent: folder, name, new_name: newName, token, handle }: PendingRow): PendingFileChange {
  const parent = parseStoredPath(folder);
  // Cannot happen: the row was checked when it was written.
  if (!parent || !isChange(action)) throw new Error('invalid row in the table of pending changes');
  return { action, parent, name, newName, token, handle };
}

const alertColumns = {
  upload: 'alert_upload',
  createFolder: 'alert_create_folder',
  rename: 'alert_rename',
  delete: 'alert_delete',
} as const satisfies Record<PendingFileChange['action'], string>;

/** Enqueues the alert of a recovered change, if its share is set to send one. */
async function enqueueAlertOf(
  tx: Tx,
  { tid, share_id, audit_id, identity_key, address }: PendingRow,
  action: PendingFileChange['action'],
  now: number,
): Promise<void> {
  if (share_id === null) return;
  const share = await tx.selectFrom('share').selectAll().where('tid', '=', tid).where('id', '=', share_id).executeTakeFirst();
  if (share?.[alertColumns[action]] !== 1) return;
  await enqueueAlert(tx, share, { auditId: audit_id, action, identityKey: identity_key, address }, now);
}

/**
 * Records the outcome of a change that was recovered.
 * @param name the name after the change, or the deleted name; null: the change did not take
 *   place
 */
export async function recordOutcome(tx: Tx, row: PendingRow, change: PendingFileChange, name: string | null, now: number): Promise<void> {
  // If the change is no longer pending, the process that began it, or one that recovered it, has
  // recorded its outcome.
  if (!(await deletePendingChange(tx, row.tid, row.audit_id))) return;
  const path = parseStoredPath(row.path);
  await tx
    .updateTable('audit')
    .set({
      outcome: name === null ? 'failed' : 'done',
      ...(change.action === 'upload' && name !== null && path ? { path: formatItemPath(withName(path, name)) } : {}),
      ...(change.action === 'rename' && name !== null ? { after: JSON.stringify({ name }) } : {}),
    })
    .where('tid', '=', row.tid)
    .where('id', '=', row.audit_id)
    .execute();
  if (name === null) return deleteResponse(tx, row.tid, row.audit_id);
  const changed = parseSegments([change.name]);
  if (changed) {
    const item = { tid: row.tid, locationId: row.location_id, path: joinPaths(change.parent, changed) };
    await recordSpaceChange(tx, item, { bytes: Number(row.claimed_bytes), files: Number(row.claimed_files) }, row.audit_id);
    await requestCount(tx, item);
  }
  if (change.action === 'upload') await recordCompleteUpload(tx, row.tid, change.token, name, null);
  await confirmResponse(tx, row.tid, row.audit_id);
  await enqueueAlertOf(tx, row, change.action, now);
}
