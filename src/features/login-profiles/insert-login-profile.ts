import { packRangeText } from '#core/authorization/address-range.ts';
import { fold } from '#core/fold.ts';
import type { storedProfileFields } from '#core/records/login-profile.ts';
import { profileSealPurposes } from '#core/records/login-profile.ts';
import type { ColumnsOf } from '#core/records/stored-fields.ts';
import { claimNewViewId, newViewId } from '#features/links/view-ids.ts';
import type { SyncPorts } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';

/** The fields of a new profile, secrets decrypted. */
export interface LoginProfileInput extends Readonly<ColumnsOf<typeof storedProfileFields>> {
  readonly type_id: number;
  readonly password: string;
  readonly configuration: string;
  /** 1: the profile was created for the password of one link. */
  readonly for_link?: 1;
}

/** Returns the text that every caller may search. The username is searched in addition, only for callers who may see it. */
const searchText = (profile: { title: string; description: string }) => fold([profile.title, profile.description].join('\u001f'));

/** Returns the columns of a profile, secrets encrypted. */
export function profileColumns(profile: LoginProfileInput, { vault }: Pick<SyncPorts, 'vault'>) {
  const seal = (field: 'password' | 'configuration') =>
    profile[field] === '' ? '' : vault.seal(profileSealPurposes[field], profile[field]);
  return {
    ...profile,
    ip_bounds: packRangeText(profile.ip_range),
    password: seal('password'),
    configuration: seal('configuration'),
    username_key: fold(profile.username),
    search_text: searchText(profile),
  };
}

/** Inserts a profile. Without a title it is named after its id. */
export async function insertProfile(
  tx: Tx,
  owner: { tid: number; name: string },
  profile: LoginProfileInput,
  ports: SyncPorts,
): Promise<{ id: number; viewId: string }> {
  const [now, viewId] = [ports.clock.now(), newViewId(ports.random)];
  const { id } = await tx
    .insertInto('login_profile')
    .values({
      ...profileColumns(profile, ports),
      tid: owner.tid,
      version: 1,
      view_id: viewId,
      session_epoch: 1,
      created_owner: owner.name,
      updated_owner: owner.name,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (profile.title === '') {
    const title = `Login profile ${id}`;
    await tx
      .updateTable('login_profile')
      .set({ title, search_text: searchText({ ...profile, title }) })
      .where('tid', '=', owner.tid)
      .where('id', '=', id)
      .execute();
  }
  await claimNewViewId(tx, owner.tid, viewId, { profile_id: id });
  return { id, viewId };
}
