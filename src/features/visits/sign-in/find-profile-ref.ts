import type { ProfileRef } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';

/** Returns a login profile, with the viewId of its portal, or null. */
export async function findProfileRef(db: Tx, profileId: number): Promise<(ProfileRef & { readonly view_id: string }) | null> {
  const row = await db
    .selectFrom('login_profile')
    .select(['tid', 'id as profile_id', 'type_id', 'session_epoch', 'username as profile_username', 'view_id'])
    .where('id', '=', profileId)
    .executeTakeFirst();
  return row ?? null;
}
