import Type from 'typebox';
import type { TenantPolicy } from '#core/authorization/policy-rules.ts';
import { millisecondsPerDay } from '#core/instant.ts';
import { formatList, parseList } from '#core/list-text.ts';
import { fieldRefusal } from '#core/messages.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import { PolicyChange, permissionNames, TenantPolicyRecord } from '#core/records/policy.ts';
import { changeOperation, readOperation } from '#features/operation.ts';
import { tenantPolicy } from '#features/records/check-policy.ts';
import type { Tx } from '#ports/store.ts';

const recordOf = ({ longestValidityDays, signInRequired, secondFactorRequired, defaultPermissions }: TenantPolicy) => ({
  longestValidityDays,
  signInRequired,
  secondFactorRequired,
  defaultPermissions: formatList(defaultPermissions ?? []),
});

async function countNoncompliant(
  db: Tx,
  tid: number,
  { longestValidityDays: days, signInRequired }: TenantPolicy,
  now: number,
): Promise<number> {
  if (days === null && !signInRequired) return 0;
  const { outside } = await db
    .selectFrom('share')
    .innerJoin('login_profile', (join) =>
      join.onRef('login_profile.tid', '=', 'share.tid').onRef('login_profile.id', '=', 'share.profile_id'),
    )
    .select(({ fn }) => fn.countAll<number>().as('outside'))
    .where('share.tid', '=', tid)
    .where('share.active', '=', 1)
    .where(({ eb, or, and }) => {
      const latest = now + (days ?? 0) * millisecondsPerDay;
      const endsLate = and([
        eb('share.valid_to', '>', latest),
        or([
          eb('share.valid_from', 'is', null),
          eb('share.valid_from', '<=', now),
          eb('share.valid_to', '>', eb('share.valid_from', '+', (days ?? 0) * millisecondsPerDay)),
        ]),
      ]);
      return or([
        ...(days === null ? [] : [eb('share.valid_to', 'is', null), endsLate]),
        ...(signInRequired ? [eb('login_profile.type_id', '=', profileTypes.PUBLIC)] : []),
      ]);
    })
    .executeTakeFirstOrThrow();
  return Number(outside);
}

export const getPolicy = readOperation({
  name: 'tenant/getPolicy',
  isSearch: true,
  method: 'GET',
  role: 'reader',
  summary: 'Returns the policy of the tenant and the number of active shares that do not comply with it.',
  body: Type.Object({}, { additionalProperties: false }),
  response: TenantPolicyRecord,
  async read(_query, caller, { store, clock }) {
    const policy = await tenantPolicy(store.read, caller.tid);
    return { ...recordOf(policy), outsideCount: await countNoncompliant(store.search, caller.tid, policy, clock.now()) };
  },
});

/** Returns the permissions that a text lists. @throws Refusal (400) */
function parsePermissions(text: string): readonly string[] {
  const names = parseList(text) ?? [text];
  const allowedNames: readonly string[] = permissionNames;
  const unknownName = names.find((name) => !allowedNames.includes(name));
  if (unknownName !== undefined) throw fieldRefusal('defaultPermissions', `"${unknownName}" must be one of ${allowedNames.join(', ')}`);
  return allowedNames.filter((name) => names.includes(name));
}

export const updatePolicy = changeOperation({
  name: 'tenant/updatePolicy',
  method: 'POST',
  role: 'admin',
  summary:
    'Changes the policy of the tenant. Active shares that do not comply keep working, but the next change of such a share must make it comply, or deactivate it.',
  message: 'tenantPolicyUpdated',
  body: PolicyChange,
  async change(body, { tid }, tx) {
    const before = recordOf(await tenantPolicy(tx, tid));
    const { longestValidityDays, signInRequired, secondFactorRequired, defaultPermissions } = body;
    const changes = {
      ...(longestValidityDays === undefined ? {} : { longest_validity_days: longestValidityDays }),
      ...(signInRequired === undefined ? {} : { sign_in_required: signInRequired ? 1 : 0 }),
      ...(secondFactorRequired === undefined ? {} : { second_factor_required: secondFactorRequired ? 1 : 0 }),
      ...(defaultPermissions === undefined ? {} : { default_permissions: parsePermissions(defaultPermissions ?? '').join(',') }),
    };
    if (Object.keys(changes).length > 0) await tx.updateTable('tenant').set(changes).where('id', '=', tid).execute();
    return { audit: { before, after: recordOf(await tenantPolicy(tx, tid)) } };
  },
});
