import { siteOf } from '#core/client-networks.ts';
import type { LinkRow } from '#features/links/find-link.ts';
import { insertRow } from '#features/records/insert-row.ts';
import type { Tx } from '#ports/store.ts';

/** Value of the column `visitor` for alerts from a restored backup. Their mails are held, since they may have been sent before. */
export const restoredVisitor = 'restored backup';

/** An action that an alert reports, as its audit entry records it. */
interface AuditedAction {
  readonly auditId: number;
  readonly action: string;
  readonly identityKey: string | null;
  readonly address: string;
}

/**
 * Enqueues the alert for an action, in the transaction that records the action or its outcome. Does nothing if the share notifies nobody.
 * The recipients are those whom the share notifies when `planAlerts` creates the mail.
 */
export async function enqueueAlert(
  tx: Tx,
  { id, tid, notify_emails }: Pick<LinkRow, 'id' | 'tid' | 'notify_emails'>,
  { auditId, action, identityKey, address }: AuditedAction,
  now: number,
): Promise<void> {
  if (notify_emails === '') return;
  const visitor = identityKey ?? `site ${siteOf(address)}`; // one client can own all the addresses of a site
  await insertRow(tx, 'alert', { tid, share_id: id, audit_id: auditId, action, visitor, created_at: now });
}
