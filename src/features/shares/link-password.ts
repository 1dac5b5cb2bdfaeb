import { checkNotGuessable } from '#core/password-rules.ts';
import { limits } from '#core/records/field.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import { normalizeText } from '#core/unicode.ts';
import { releaseViewId } from '#features/links/view-ids.ts';
import { insertProfile } from '#features/login-profiles/insert-login-profile.ts';
import type { Caller } from '#features/operation.ts';
import type { SyncPorts } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { findShareProfile } from './share-rows.ts';

interface LinkPassword {
  readonly title: string;
  readonly linkPassword: string;
  /** Id of the login profile whose `ipRange`, `lang` and `startupMessage` are copied. */
  readonly authenticationId: number;
}

/** Checks that the password is hard to guess. @throws Refusal 400 */
export function checkLinkPassword(password: string | null | undefined): void {
  if (password) checkNotGuessable(password, 'linkPassword');
}

/** Creates the login profile of a link that has its own password. */
async function createLinkProfile(tx: Tx, caller: Caller, { title, linkPassword, authenticationId }: LinkPassword, ports: SyncPorts) {
  const { ip_range, lang, startup_message } = await tx
    .selectFrom('login_profile')
    .select(['ip_range', 'lang', 'startup_message'])
    .where('tid', '=', caller.tid)
    .where('id', '=', authenticationId)
    .executeTakeFirstOrThrow();
  const profile = {
    title: normalizeText(`Password for ${title}`).slice(0, limits.name),
    description: '',
    ip_range,
    type_id: profileTypes.PASSWORD,
    username: '',
    password: normalizeText(linkPassword),
    lang,
    startup_message,
    configuration: '',
    for_link: 1,
  } as const;
  const { id } = await insertProfile(tx, caller, profile, ports);
  return findShareProfile(tx, caller.tid, id);
}

/**
 * Returns the login profile of a share: the one that the request names or, for a link password, a new one.
 * @throws Refusal 400 at authenticationId
 */
export async function resolveShareProfile(
  tx: Tx,
  caller: Caller,
  body: { readonly title: string; readonly authenticationId: number; readonly linkPassword?: string | null },
  ports: SyncPorts,
) {
  const profile = await findShareProfile(tx, caller.tid, body.authenticationId);
  return body.linkPassword ? createLinkProfile(tx, caller, { ...body, linkPassword: body.linkPassword }, ports) : profile;
}

/** Deletes a login profile that was created for a link, unless it still has shares or users or is the tenant's default profile. */
export async function deleteUnusedLinkProfile(tx: Tx, tid: number, id: number): Promise<void> {
  const deletedProfile = await tx
    .deleteFrom('login_profile')
    .where('tid', '=', tid)
    .where('id', '=', id)
    .where('for_link', '=', 1)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('share').select('id').where('share.tid', '=', tid).where('share.profile_id', '=', id))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('access_user').select('id').where('access_user.tid', '=', tid).where('access_user.profile_id', '=', id))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('tenant').select('id').where('tenant.id', '=', tid).where('tenant.default_profile_id', '=', id))),
    )
    .returning('view_id')
    .executeTakeFirst();
  if (deletedProfile) await releaseViewId(tx, deletedProfile.view_id);
}
