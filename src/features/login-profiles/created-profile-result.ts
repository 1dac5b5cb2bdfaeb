import { portalUrl } from '#core/link.ts';
import type { ChangeResult } from '#features/operation.ts';
import type { SyncPorts } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { loginProfileRecord } from './login-profile-rows.ts';

/** Returns the result of the changes that create a profile: add and duplicate. */
export async function createdProfileResult(
  tx: Tx,
  tid: number,
  created: { id: number; viewId: string },
  ports: SyncPorts,
): Promise<ChangeResult> {
  const after = await loginProfileRecord(tx, tid, created.id, ports);
  return { created: { ...created, viewUrl: portalUrl(ports.links.publicUrl(), created.viewId) }, audit: { after } };
}
