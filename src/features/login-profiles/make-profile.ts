import { fold } from '#core/fold.ts';
import { portalUrl } from '#core/link.ts';
import type { Changed } from '#features/operation.ts';
import { claimNewViewId, newViewId } from '#features/viewid-rows.ts';
import type { InstantPorts } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import type { ProfileText } from './login-profile-body.ts';
import { loginProfileRecord, sealedFor, searchText } from './login-profile-rows.ts';

/** The columns of a profile, secrets sealed. */
export function profileColumns(profile: ProfileText, { vault }: Pick<InstantPorts, 'vault'>) {
  const sealed = (field: 'password' | 'configuration') => (profile[field] === '' ? '' : vault.seal(sealedFor[field], profile[field]));
  return {
    ...profile,
    password: sealed('password'),
    configuration: sealed('configuration'),
    username_key: fold(profile.username),
    search_text: searchText(profile),
  };
}

/** Makes a profile; without a title it is called after its number. */
export async function insertProfile(
  tx: Tx,
  owner: { tid: number; name: string },
  profile: ProfileText,
  ports: InstantPorts,
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

/** What add and duplicate answer. */
export async function madeProfile(tx: Tx, tid: number, made: { id: number; viewId: string }, ports: InstantPorts): Promise<Changed> {
  const after = await loginProfileRecord(tx, tid, made.id, ports);
  return { fresh: { ...made, viewUrl: portalUrl(ports.links.publicUrl(), made.viewId) }, trail: { after } };
}
