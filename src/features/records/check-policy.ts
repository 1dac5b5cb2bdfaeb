import { type GovernedShare, policyErrors, type TenantPolicy } from '#core/authorization/policy-rules.ts';
import { Refusal } from '#core/messages.ts';
import { permissionNames } from '#core/records/policy.ts';
import type { Tx } from '#ports/store.ts';
import { preparedQuery, type QueryParameter } from './prepared-query.ts';

const policyColumns = ['longest_validity_days', 'sign_in_required', 'second_factor_required', 'default_permissions'] as const;
const policyRows = preparedQuery((db, p: QueryParameter<{ tid: number }>) =>
  db.selectFrom('tenant').select(policyColumns).where('id', '=', p('tid')),
);

export async function tenantPolicy(db: Tx, tid: number): Promise<TenantPolicy> {
  const [row] = await policyRows(db, { tid });
  if (!row) throw new Error(`tenant ${tid} does not exist`);
  const names = row.default_permissions.split(',');
  return {
    longestValidityDays: row.longest_validity_days,
    signInRequired: row.sign_in_required === 1,
    secondFactorRequired: row.second_factor_required === 1,
    defaultPermissions: row.default_permissions === '' ? null : permissionNames.filter((name) => names.includes(name)),
  };
}

/** Checks that the policy of the tenant allows an active share. @throws Refusal (400) with a field error for each field not allowed */
export async function checkPolicy(tx: Tx, tid: number, share: GovernedShare, now: number): Promise<void> {
  if (!share.active) return;
  const fieldErrors = policyErrors(await tenantPolicy(tx, tid), share, now);
  if (fieldErrors.length === 0) return;
  throw new Refusal('fieldInvalid', fieldErrors.map(({ field, detail }) => `${field} ${detail}`).join('; '), { fieldErrors });
}
