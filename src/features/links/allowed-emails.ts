import { profileSealPurposes, profileTypes } from '#core/records/login-profile.ts';
import type { EmailCodeConfiguration } from '#core/records/profile-configuration.ts';
import type { ProfileRef } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';
import { openStoredSecret, type Vault } from '#ports/vault.ts';

/** Returns the addresses, and entries `*@domain`, to which a profile sends codes in addition to the addresses of its access users. */
export async function readAllowedEmails(
  vault: Vault,
  db: Tx,
  { tid, profile_id }: Pick<ProfileRef, 'tid' | 'profile_id'>,
): Promise<readonly string[]> {
  const profile = await db
    .selectFrom('login_profile')
    .select('configuration')
    .where('tid', '=', tid)
    .where('id', '=', profile_id)
    .where('type_id', '=', profileTypes.EMAIL_CODE)
    .executeTakeFirst();
  const text = openStoredSecret(vault, profileSealPurposes.configuration, profile?.configuration ?? '');
  if (text === '') return [];
  const configuration: EmailCodeConfiguration = JSON.parse(text);
  return configuration.allow ?? [];
}
