import { sql } from 'kysely';
import { minOpenViewIdLength } from '#core/link.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import {
  findsUsersByEmail,
  LoginProfileChange,
  listsUsersById,
  loginProfileFields,
  profileSealPurposes,
  profileTypes,
  storedProfileFields,
} from '#core/records/login-profile.ts';
import { checkViewId, claimViewId, releaseViewId } from '#features/links/view-ids.ts';
import { changeOperation } from '#features/operation.ts';
import { tenantPolicy } from '#features/records/check-policy.ts';
import { checkFixedFields, withFixedFields } from '#features/records/fixed-fields.ts';
import { listedUserId } from '#features/records/listed-users.ts';
import type { Tx } from '#ports/store.ts';
import { openStoredSecret, type Vault } from '#ports/vault.ts';
import { type LoginProfileInput, profileColumns } from './insert-login-profile.ts';
import { endsSessions, mergeProfile } from './login-profile-body.ts';
import { loginProfileRecord } from './login-profile-rows.ts';

const maxRelinkedNames = 100_000; // listed names whose users one change looks up: a million take one second

const fixedFields = { tid: 'cannot be changed' };

/** Returns the stored fields of a profile, secrets decrypted. */
export async function readLoginProfileInput(tx: Tx, tid: number, id: number, vault: Vault): Promise<LoginProfileInput> {
  const row = await tx
    .selectFrom('login_profile')
    .select(storedProfileFields.columns)
    .select(['type_id', 'password', 'configuration'])
    .where('tid', '=', tid)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const decrypt = (field: 'password' | 'configuration') => openStoredSecret(vault, profileSealPurposes[field], row[field]);
  return { ...row, password: decrypt('password'), configuration: decrypt('configuration') };
}

/** Checks that no share becomes public under a viewId that is short enough to guess. @throws Refusal 409 */
async function checkOpenLinks(tx: Tx, tid: number, profileId: number): Promise<void> {
  const share = await tx
    .selectFrom('share')
    .select('id')
    .where('tid', '=', tid)
    .where('profile_id', '=', profileId)
    .where(sql`length(view_id)`, '<', minOpenViewIdLength)
    .limit(1)
    .executeTakeFirst();
  if (!share) return;
  throw new Refusal(
    'viewIdTooShort',
    `The viewId of share ${share.id} is too short for a link without sign-in. Set a longer one with share/updateSharableLink first.`,
    {
      fieldErrors: [
        {
          field: 'typeId',
          detail: `would make share ${share.id} public under a viewId that is too short. Change this viewId with share/updateSharableLink.`,
        },
      ],
    },
  );
}

/** Checks that no two users have the same e-mail address, since codes are sent to it. @throws Refusal 409 */
async function checkAddresses(tx: Tx, tid: number, profileId: number): Promise<void> {
  const duplicate = await tx
    .selectFrom('access_user')
    .select(({ fn }) => fn.min('email').as('email'))
    .where('tid', '=', tid)
    .where('profile_id', '=', profileId)
    .where('email_key', '!=', '')
    .groupBy('email_key')
    .having(sql`count(*)`, '>', 1)
    .limit(1)
    .executeTakeFirst();
  if (duplicate)
    throw new Refusal('nameTaken', 'Two users of the profile have the same e-mail address.', {
      fieldErrors: [{ field: 'typeId', detail: `cannot be EMAIL_CODE while several users have the address ${duplicate.email}` }],
    });
}

/** Checks that the shares of the profile do not list too many names: other changes wait while `relinkNames` runs. @throws Refusal 400 */
async function checkListedNames(tx: Tx, tid: number, profileId: number): Promise<void> {
  const { names } = await tx
    .selectFrom('share')
    .select(({ fn }) => fn.sum<number>('listed_names').as('names'))
    .where('tid', '=', tid)
    .where('profile_id', '=', profileId)
    .executeTakeFirstOrThrow();
  if (Number(names) > maxRelinkedNames)
    throw fieldRefusal(
      'typeId',
      `cannot be changed while the shares of the profile list more than ${maxRelinkedNames} names: duplicate the profile, change the type of the copy, and assign the copy to these shares`,
    );
}

/** Sets or removes the user ids of listed names for a new type of the profile, see `listsUsersById`. @throws Refusal 400 */
async function relinkNames(tx: Tx, tid: number, profileId: number, typeId: number): Promise<void> {
  await checkListedNames(tx, tid, profileId);
  const names = tx
    .updateTable('share_user')
    .where('tid', '=', tid)
    .where('share_id', 'in', tx.selectFrom('share').select('id').where('tid', '=', tid).where('profile_id', '=', profileId));
  if (listsUsersById(typeId)) await names.set({ user_id: listedUserId('share_user', profileId) }).execute();
  // Has no condition on user_id: with one, SQLite would choose the index over all listed users of the tenant.
  else await names.set({ user_id: null }).execute();
}

/** Checks that no active share loses its sign-in if the policy of the tenant requires sign-in. @throws Refusal 400 */
async function checkSignInStays(tx: Tx, tid: number, profileId: number): Promise<void> {
  if (!(await tenantPolicy(tx, tid)).signInRequired) return;
  const shares = tx.selectFrom('share').select('id').where('tid', '=', tid).where('profile_id', '=', profileId).where('active', '=', 1);
  if (await shares.limit(1).executeTakeFirst())
    throw fieldRefusal(
      'typeId',
      'must be a type with sign-in while active shares use the profile, because the policy of the tenant requires sign-in',
    );
}

async function changeType(tx: Tx, tid: number, profileId: number, { from, to: typeId }: { from: number; to: number }): Promise<void> {
  if (typeId === profileTypes.PUBLIC) {
    await checkSignInStays(tx, tid, profileId);
    await checkOpenLinks(tx, tid, profileId);
  }
  if (findsUsersByEmail(typeId)) await checkAddresses(tx, tid, profileId);
  if (listsUsersById(from) !== listsUsersById(typeId)) await relinkNames(tx, tid, profileId, typeId);
}

/** Claims the new viewId of a portal, if it differs from the current one. @returns the viewId to store */
async function updateViewId(tx: Tx, tid: number, id: number, newViewId: string | null | undefined, current: string): Promise<string> {
  if (newViewId === undefined || newViewId === current) return current;
  if (newViewId === null || newViewId === '')
    throw fieldRefusal('viewId', 'cannot be cleared. Use loginprofile/updateViewId to generate a new one.');
  checkViewId(newViewId);
  await releaseViewId(tx, current);
  await claimViewId(tx, tid, newViewId, { profile_id: id });
  return newViewId;
}

export const updateLoginProfile = changeOperation({
  name: 'loginprofile/update',
  method: 'POST',
  role: 'admin',
  summary: 'Changes a login profile. Its sessions end if the way to sign in or the viewId changes.',
  message: 'loginProfileUpdated',
  body: withFixedFields(LoginProfileChange, loginProfileFields, fixedFields),
  computed: ['typeString', 'shareCount', 'viewUrl', 'createdOwner', 'updatedOwner', 'createDateTime', 'updateDateTime', 'etag'],
  target: { table: 'login_profile' },
  async change(body, caller, tx, ports) {
    const before = await loginProfileRecord(tx, caller.tid, body.id ?? 0, ports);
    checkFixedFields(body, before, fixedFields);
    if (body.title === null || body.title === '') throw fieldRefusal('title', 'must not be empty');
    const current = await readLoginProfileInput(tx, caller.tid, before.id, ports.vault);
    const profile = mergeProfile(body, current);
    if (profile.type_id !== current.type_id) await changeType(tx, caller.tid, before.id, { from: current.type_id, to: profile.type_id });
    const viewId = await updateViewId(tx, caller.tid, before.id, body.viewId, before.viewId);
    const sessionsEnd = endsSessions(current, profile) || viewId !== before.viewId;
    await tx
      .updateTable('login_profile')
      .set((row) => ({
        ...profileColumns(profile, ports),
        view_id: viewId,
        session_epoch: row('session_epoch', '+', sessionsEnd ? 1 : 0),
        version: row('version', '+', 1),
        updated_owner: caller.name,
        updated_at: ports.clock.now(),
      }))
      .where('tid', '=', caller.tid)
      .where('id', '=', before.id)
      .execute();
    return { audit: { before, after: await loginProfileRecord(tx, caller.tid, before.id, ports) } };
  },
});
