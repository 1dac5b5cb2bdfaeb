import type { LinkRow } from '#features/links/find-link.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { Tx } from '#ports/store.ts';

/** Stores a list of addresses, each list once: alerts are many, and a list may have thousands. @returns what alerts name it by */
async function listOf(tx: Tx, tid: number, emails: string): Promise<string> {
  const list = sha256(emails);
  const known = tx.selectFrom('alert_list').select('digest').where('tid', '=', tid).where('digest', '=', list);
  if (!(await known.executeTakeFirst())) await tx.insertInto('alert_list').values({ tid, digest: list, emails }).execute();
  return list;
}

/** The e-mail that is owed for an action, in the action's own transaction. */
export async function enqueueAlert(
  tx: Tx,
  { id, tid, notify_emails }: Pick<LinkRow, 'id' | 'tid' | 'notify_emails'>,
  auditId: number,
  action: string,
  now: number,
): Promise<void> {
  if (notify_emails === '') return;
  const list = await listOf(tx, tid, notify_emails);
  await tx.insertInto('alert').values({ tid, share_id: id, audit_id: auditId, action, list, created_at: now }).execute();
}

/** Takes back alerts whose audit entries are deleted: they are as old as that. */
export async function deleteAlerts(tx: Tx, tid: number, auditIds: readonly number[]): Promise<void> {
  const dropped = await tx.deleteFrom('alert').where('tid', '=', tid).where('audit_id', 'in', auditIds).returning('list').execute();
  const lists = [...new Set(dropped.map(({ list }) => list))];
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
