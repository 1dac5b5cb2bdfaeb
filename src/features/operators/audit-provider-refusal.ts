import type { Refusal } from '#core/messages.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { appendAuditEntry } from '#features/audit/audit-entry.ts';
import { refusalDetails } from '#features/audit/refusal-details.ts';
import { attemptTurn, networkKeys } from '#features/rate-limits/failed-attempts.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import type { Origin } from './operator-session.ts';

const findOperatorName = (tx: Tx, id: number) =>
  tx.selectFrom('operator').select('name').where('tid', '=', firstTenant).where('id', '=', id).executeTakeFirst();

/**
 * Appends an audit entry for a refusal `providerRefused` of a sign-in, or of connecting a provider user to an operator. The delay after
 * failed attempts limits the number of these entries.
 * @param operatorId the operator to whom the user was to be connected; null: the user wanted to sign in
 */
export async function auditProviderRefusal(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  { address, requestId }: Origin,
  operatorId: number | null,
  refusal: Refusal,
): Promise<void> {
  const isSignIn = operatorId === null;
  await store.write(
    async (tx) => {
      const actor = isSignIn ? '' : ((await findOperatorName(tx, operatorId))?.name ?? '');
      await appendAuditEntry(tx, {
        ...{ tid: firstTenant, at: clock.now(), actor, actorKind: 'operator', address, requestId },
        ...{ action: isSignIn ? 'operator/signIn' : 'operator/linkProvider', outcome: 'refused', share: null, path: '' },
        ...{ bytes: null, before: null, process: null },
        after: { ...(isSignIn ? {} : { id: operatorId }), ...refusalDetails(refusal), reference: requestId },
      });
    },
    attemptTurn(networkKeys('operator', address)),
  );
}
