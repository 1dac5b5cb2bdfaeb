import { fieldRefusal, Refusal } from '#core/messages.ts';
import { firstTenant } from '#core/records/tenant.ts';
import type { Caller } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';

/**
 * Returns the tenant for a new key or operator: the caller's own, or the one that an admin of tenant 1 names.
 * @param tid the tenant that the body names, if any
 * @throws Refusal (400, 403)
 */
export async function resolveTenant(tx: Tx, caller: Caller, tid: number | null | undefined): Promise<number> {
  if (!tid || tid === caller.tid) return caller.tid;
  if (caller.tid !== firstTenant)
    throw new Refusal('tenantForbidden', undefined, {
      fieldErrors: [{ field: 'tid', detail: 'can be set only by an admin of tenant 1' }],
    });
  if (!(await tx.selectFrom('tenant').select('id').where('id', '=', tid).executeTakeFirst()))
    throw fieldRefusal('tid', 'is not the id of a tenant');
  return tid;
}
