import { sql } from 'kysely';
import { shortestOpenViewId } from '#core/link.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { LoginProfileChange, loginProfileFields, profileTypes } from '#core/records/login-profile.ts';
import { checkViewId, claimViewId, releaseViewId } from '#features/links/view-ids.ts';
import { change } from '#features/operation.ts';
import { checkFixedFields, withFixedFields } from '#features/records/fixed-fields.ts';
import { listedUser } from '#features/records/listed-users.ts';
import { tenantPolicy } from '#features/records/tenant-policy.ts';
import type { Tx } from '#ports/store.ts';
import type { Vault } from '#ports/vault.ts';
import { type ProfileText, profileColumns, sealedFor } from './insert-login-profile.ts';
import { endsSessions, mergeProfile } from './login-profile-body.ts';
import { loginProfileRecord } from './login-profile-rows.ts';

const mostRelinked = 100_000; // listed names of which one change looks up the users; a second for each million

const fixed = { tid: 'cannot be changed' };

/** The texts of a profile, secrets opened. */
export async function profileText(tx: Tx, tid: number, id: number, vault: Vault): Promise<ProfileText> {
  const row = await tx
    .selectFrom('login_profile')
    .select(['title', 'description', 'ip_range', 'type_id', 'username', 'password', 'lang', 'startup_message', 'configuration'])
    .where('tid', '=', tid)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const opened = (field: 'password' | 'configuration') => (row[field] === '' ? '' : vault.open(sealedFor[field], row[field]));
  return { ...row, password: opened('password'), configuration: opened('configuration') };
}

/** @throws 409 where a share would stand open under an address short enough to guess */
async function checkOpenLinks(tx: Tx, tid: number, profileId: number): Promise<void> {
  const short = await tx
    .selectFrom('share')
    .select('id')
    .where('tid', '=', tid)
    .where('profile_id', '=', profileId)
    .where(sql`length(view_id)`, '<', shortestOpenViewId)
    .limit(1)
    .executeTakeFirst();
  if (!short) return;
  throw new Refusal(
    'viewIdTooShort',
    `Share ${short.id} has a view id too short for a link without sign-in: give it a longer one by share/updateSharableLink first.`,
    {
      fieldErrors: [
        { field: 'typeId', detail: `would leave share ${short.id} open under a short view id; share/updateSharableLink changes it` },
      ],
    },
  );
}

/** @throws 409 where codes would be sent for two users to one address */
async function checkAddresses(tx: Tx, tid: number, profileId: number): Promise<void> {
  const twice = await tx
    .selectFrom('access_user')
    .select(({ fn }) => fn.min('email').as('email'))
    .where('tid', '=', tid)
    .where('profile_id', '=', profileId)
    .where('email_key', '!=', '')
    .groupBy('email_key')
    .having(sql`count(*)`, '>', 1)
    .limit(1)
    .executeTakeFirst();
  if (twice)
    throw new Refusal('nameTaken', 'Two users of the profile have one e-mail address.', {
      fieldErrors: [{ field: 'typeId', detail: `needs ${twice.email} to be one user's only` }],
    });
}

/** @throws 400 where the shares of the profile list more names than one change may read while others wait */
async function checkListedNames(tx: Tx, tid: number, profileId: number): Promise<void> {
  const { names } = await tx
    .selectFrom('share')
    .select(({ fn }) => fn.sum<number>('listed_names').as('names'))
    .where('tid', '=', tid)
    .where('profile_id', '=', profileId)
    .executeTakeFirstOrThrow();
  if (Number(names) > mostRelinked)
    throw fieldRefusal(
      'typeId',
      `cannot be changed while the shares of the profile list more than ${mostRelinked} names: duplicate the profile, and give its shares the new one`,
    );
}

/** In a USERS profile a listed name is a user; in others it stands for itself. */
async function relinkNames(tx: Tx, tid: number, profileId: number, typeId: number): Promise<void> {
  await checkListedNames(tx, tid, profileId);
  const names = tx
    .updateTable('share_user')
    .where('tid', '=', tid)
    .where('share_id', 'in', tx.selectFrom('share').select('id').where('tid', '=', tid).where('profile_id', '=', profileId));
  if (typeId === profileTypes.USERS) await names.set({ user_id: listedUser('share_user', profileId) }).execute();
  // Not only where there is one: SQLite would take the index over all listed users of the tenant.
  else await names.set({ user_id: null }).execute();
}

/** Where sign-in is required, an active share does not lose it by its profile. @throws 400 */
async function checkSignInStays(tx: Tx, tid: number, profileId: number): Promise<void> {
  if (!(await tenantPolicy(tx, tid)).signInRequired) return;
  const shares = tx.selectFrom('share').select('id').where('tid', '=', tid).where('profile_id', '=', profileId).where('active', '=', 1);
  if (await shares.limit(1).executeTakeFirst())
    throw fieldRefusal('typeId', 'must be a type with sign-in while active shares use the profile: the policy of the tenant asks for it');
}

async function changeType(tx: Tx, tid: number, profileId: number, { from, to: typeId }: { from: number; to: number }): Promise<void> {
  if (typeId === profileTypes.PUBLIC) {
    await checkSignInStays(tx, tid, profileId);
    await checkOpenLinks(tx, tid, profileId);
  }
  if (typeId === profileTypes.EMAIL_CODE) await checkAddresses(tx, tid, profileId);
  if ([from, typeId].includes(profileTypes.USERS)) await relinkNames(tx, tid, profileId, typeId);
}

/** The new address of the portal, if the body names another. */
async function changeViewId(tx: Tx, tid: number, id: number, sent: string | null | undefined, present: string): Promise<string> {
  if (sent === undefined || sent === present) return present;
  if (sent === null || sent === '') throw fieldRefusal('viewId', 'cannot be cleared; loginprofile/updateViewId makes a new one');
  checkViewId(sent);
  await releaseViewId(tx, present);
  await claimViewId(tx, tid, sent, { profile_id: id });
  return sent;
}

export const updateLoginProfile = change({
  name: 'loginprofile/update',
  method: 'POST',
  role: 'admin',
  summary: 'Changes a login profile; sessions end where its way to sign in changes.',
  message: 'loginProfileUpdated',
  body: withFixedFields(LoginProfileChange, loginProfileFields, fixed),
  computed: ['typeString', 'shareCount', 'viewUrl', 'createdOwner', 'updatedOwner', 'createDateTime', 'updateDateTime', 'etag'],
  target: { table: 'login_profile' },
  async change(body, caller, tx, ports) {
    const before = await loginProfileRecord(tx, caller.tid, body.id ?? 0, ports);
    checkFixedFields(body, before, fixed);
    if (body.title === null || body.title === '') throw fieldRefusal('title', 'must not be empty');
    const present = await profileText(tx, caller.tid, before.id, ports.vault);
    const profile = mergeProfile(body, present);
    if (profile.type_id !== present.type_id) await changeType(tx, caller.tid, before.id, { from: present.type_id, to: profile.type_id });
    const viewId = await changeViewId(tx, caller.tid, before.id, body.viewId, before.viewId);
    const ends = endsSessions(present, profile) || viewId !== before.viewId;
    await tx
      .updateTable('login_profile')
      .set((row) => ({
        ...profileColumns(profile, ports),
        view_id: viewId,
        session_epoch: row('session_epoch', '+', ends ? 1 : 0),
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
