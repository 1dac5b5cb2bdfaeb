import type { LinkRow } from '#features/links/find-link.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { Tx } from '#ports/store.ts';

/** Stores a list of addresses once, since many alerts share a list that may have thousands. @returns the digest of the list */
async function storeList(tx: Tx, tid: number, emails: string): Promise<string> {
  const digest = sha256(emails);
  const existing = tx.selectFrom('alert_list').select('digest').where('tid', '=', tid).where('digest', '=', digest);
  if (!(await existing.executeTakeFirst())) await tx.insertInto('alert_list').values({ tid, digest, emails }).execute();
  return digest;
}

/** Enqueues the alert e-mail for an action, in the transaction of the action. */
export async function enqueueAlert(
  tx: Tx,
  { id, tid, notify_emails }: Pick<LinkRow, 'id' | 'tid' | 'notify_emails'>,
  auditId: number,
  action: string,
  now: number,
): Promise<void> {
  if (notify_emails === '') return;
  const list = await storeList(tx, tid, notify_emails);
  await tx.insertInto('alert').values({ tid, share_id: id, audit_id: auditId, action, list, created_at: now }).execute();
}

/** Deletes the alerts of audit entries that are being deleted, and the address lists that no alert uses any more. */
export async function deleteAlerts(tx: Tx, tid: number, auditIds: readonly number[]): Promise<void> {
  const deletedAlerts = await tx.deleteFrom('alert').where('tid', '=', tid).where('audit_id', 'in', auditIds).returning('list').execute();
  const lists = [...new Set(deletedAlerts.map(({ list }) => list))];
  if (lists.length === 0) return;
  await tx
    .deleteFrom('alert_list')
    .where('tid', '=', tid)
    .where('digest', 'in', lists)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('alert').select('alert.id').where('alert.tid', '=', tid).whereRef('alert.list', '=', 'alert_list.digest'))),
    )
    .execute();
}
