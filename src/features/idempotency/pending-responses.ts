import type { Tx } from '#ports/store.ts';

/** Confirms the stored response of a pending change that took place: duplicate requests get it from now on. */
export async function confirmResponse(tx: Tx, tid: number, auditId: number): Promise<void> {
  await tx.updateTable('idempotency').set({ audit_id: null }).where('tid', '=', tid).where('audit_id', '=', auditId).execute();
}

/** Deletes the stored response of a pending change that did not take place, so that a retry with the same key runs the change. */
export async function deleteResponse(tx: Tx, tid: number, auditId: number): Promise<void> {
  await tx.deleteFrom('idempotency').where('tid', '=', tid).where('audit_id', '=', auditId).execute();
}
