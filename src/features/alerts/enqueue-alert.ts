import type { LinkRow } from '#features/links/find-link.ts';
import type { Tx } from '#ports/store.ts';

/** Value of the column `visitor` for alerts from a restored backup. Their mails are held, since they may have been sent before. */
export const restoredVisitor = 'restored backup';

/** Enqueues the alert for an action, in the transaction of the action. Its recipients are those of the share when the mail is sent. */
export async function enqueueAlert(
  tx: Tx,
  { id, tid, notify_emails }: Pick<LinkRow, 'id' | 'tid' | 'notify_emails'>,
  auditId: number,
  action: string,
  now: number,
): Promise<void> {
  if (notify_emails === '') return;
  await tx.insertInto('alert').values({ tid, share_id: id, audit_id: auditId, action, list: '', created_at: now }).execute();
}

/** Deletes the alerts of audit entries that are being deleted. */
export async function deleteAlerts(tx: Tx, tid: number, auditIds: readonly number[]): Promise<void> {
  await tx.deleteFrom('alert').where('tid', '=', tid).where('audit_id', 'in', auditIds).execute();
}
