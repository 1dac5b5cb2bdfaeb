import { portalUrl } from '#core/link.ts';
import type { Changed } from '#features/operation.ts';
import type { InstantPorts } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { loginProfileRecord } from './login-profile-rows.ts';

/** What add and duplicate answer. */
export async function madeProfile(tx: Tx, tid: number, made: { id: number; viewId: string }, ports: InstantPorts): Promise<Changed> {
  const after = await loginProfileRecord(tx, tid, made.id, ports);
  return { fresh: { ...made, viewUrl: portalUrl(ports.links.publicUrl(), made.viewId) }, trail: { after } };
}
