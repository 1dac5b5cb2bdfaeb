import { portalUrl } from '#core/link.ts';
import type { ChangeResult } from '#features/operation.ts';
import type { InstantPorts } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { loginProfileRecord } from './login-profile-rows.ts';

/** What add and duplicate answer. */
export async function profileCreated(
  tx: Tx,
  tid: number,
  made: { id: number; viewId: string },
  ports: InstantPorts,
): Promise<ChangeResult> {
  const after = await loginProfileRecord(tx, tid, made.id, ports);
  return { created: { ...made, viewUrl: portalUrl(ports.links.publicUrl(), made.viewId) }, audit: { after } };
}
