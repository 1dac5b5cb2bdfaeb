import { Refusal } from '#core/messages.ts';
import { profileSealPurposes, profileTypes } from '#core/records/login-profile.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, ProfileRef, SignInType } from '#ports/sign-in.ts';
import { openStoredSecret } from '#ports/vault.ts';

/** Time in ms between two checks of a signed-in visitor at the provider. */
const checkInterval = 10 * 60_000;
/** Time in ms for which a statement of the provider is valid. */
export const statementLifetime = 60 * 60_000;

/**
 * Returns the configuration of a profile whose visitors sign in at a provider.
 * @returns JSON that the schema of the type has accepted
 * @throws Refusal (503) if the profile was deleted, has changed its type, or its secrets were lost; (400) if a change of the profile
 *   has ended the sign-in
 */
export async function readProviderConfiguration(
  { store, vault }: Pick<Ports, 'store' | 'vault'>,
  { tid, profile_id, session_epoch }: ProfileRef,
  type: SignInType,
): Promise<string> {
  const current = await store.cachedUntilChange(`provider configuration ${type} ${tid} ${profile_id}`, async () => {
    const row = await store.read
      .selectFrom('login_profile')
      .select(['configuration', 'session_epoch'])
      .where('tid', '=', tid)
      .where('id', '=', profile_id)
      .where('type_id', '=', profileTypes[type])
      .executeTakeFirst();
    const text = openStoredSecret(vault, profileSealPurposes.configuration, row?.configuration ?? '');
    return row && text !== '' ? { text, epoch: row.session_epoch } : null;
  });
  if (!current) throw new Refusal('signInUnavailable', 'The login profile has no configuration.');
  // A code, a token or a password for one provider must not be sent to another one.
  if (current.epoch !== session_epoch) throw new Refusal('requestMalformed', 'The sign-in of this link has changed. Sign in again.');
  return current.text;
}

/** Returns the time in ms since the renewal became due. Negative: it is not due yet, or the sign-in cannot be renewed. */
export const overdueTime = ({ renewal, claimsAt }: CompletedSignIn, now: number): number =>
  renewal === undefined ? Number.NEGATIVE_INFINITY : Math.abs(now - claimsAt) - checkInterval;

/**
 * Returns a sign-in, or null if it has ended. It ends at the time that the provider has set. If it cannot be renewed, it also ends an
 * hour after the provider's last statement.
 */
export function unlessOutdated(signIn: CompletedSignIn, now: number): CompletedSignIn | null {
  if (signIn.endsAt !== undefined && now >= signIn.endsAt) return null;
  return signIn.renewal !== undefined || Math.abs(now - signIn.claimsAt) < statementLifetime ? signIn : null;
}
