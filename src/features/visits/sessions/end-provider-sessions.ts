import type { Ports } from '#ports/ports.ts';
import type { ProfileRef } from '#ports/sign-in.ts';

/**
 * Ends the sessions of a profile that its provider names.
 * @param ended `subject` of the user; empty: any user. `providerSession`; empty: all sessions of the user
 */
export async function endProviderSessions(
  { store }: Pick<Ports, 'store'>,
  { tid, profile_id }: ProfileRef,
  { subject, providerSession }: { readonly subject: string; readonly providerSession: string },
): Promise<void> {
  if (subject === '' && providerSession === '') return;
  await store.write(
    (tx) => {
      let sessions = tx.deleteFrom('visit_session').where('tid', '=', tid).where('profile_id', '=', profile_id);
      if (subject !== '') sessions = sessions.where('provider_subject', '=', subject);
      if (providerSession !== '') sessions = sessions.where('provider_session', '=', providerSession);
      return sessions.execute();
    },
    { tenant: tid },
  );
}
