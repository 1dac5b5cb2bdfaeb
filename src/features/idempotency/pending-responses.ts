import type { Tx } from '#ports/store.ts';

/** The change took place: its answer, if one is kept, is given from now on. */
export async function confirmResponse(tx: Tx, tid: number, auditId: number): Promise<void> {
  await tx.updateTable('idempotency').set({ audit_id: null }).where('tid', '=', tid).where('audit_id', '=', auditId).execute();
}

/** The change did not take place: its key may try again. */
export async function deleteResponse(tx: Tx, tid: number, auditId: number): Promise<void> {
  await tx.deleteFrom('idempotency').where('tid', '=', tid).where('audit_id', '=', auditId).execute();
}
