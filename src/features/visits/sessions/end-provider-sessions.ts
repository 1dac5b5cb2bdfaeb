import { identityKey } from '#features/audit/identity-key.ts';
import type { SignedInVisitor } from '#features/links/find-link.ts';
import type { Ports } from '#ports/ports.ts';
import type { ProfileRef } from '#ports/sign-in.ts';

/**
 * Ends the sessions of a profile that its provider names: none if both `subject` and `providerSession` are empty.
 * @param subject of the user; empty: any user
 * @param providerSession one session at the provider; empty: all sessions of the user. With both, sessions of the user without a
 *   provider session end too
 * @returns the visitor of each ended session
 */
export async function endProviderSessions(
  { store }: Pick<Ports, 'store'>,
  { tid, profile_id: id, type_id: typeId }: ProfileRef,
  { subject, providerSession }: { readonly subject: string; readonly providerSession: string },
): Promise<readonly Pick<SignedInVisitor, 'name' | 'identityKey'>[]> {
  if (subject === '' && providerSession === '') return [];
  const endedSessions = await store.write(
    (tx) => {
      let sessions = tx.deleteFrom('visit_session').where('tid', '=', tid).where('profile_id', '=', id);
      if (subject !== '') sessions = sessions.where('provider_subject', '=', subject);
      if (providerSession !== '')
        sessions = sessions.where(({ eb, or }) =>
          or([eb('provider_session', '=', providerSession), ...(subject === '' ? [] : [eb('provider_session', 'is', null)])]),
        );
      return sessions.returning(['name', 'provider_subject']).execute();
    },
    { tenant: tid },
  );
  return endedSessions.map(({ name, provider_subject }) => ({ name, identityKey: identityKey({ id, typeId }, provider_subject ?? '') }));
}
