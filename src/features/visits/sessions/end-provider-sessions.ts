import { identityKey } from '#features/audit/identity-key.ts';
import type { SignedInVisitor } from '#features/links/find-link.ts';
import type { Ports } from '#ports/ports.ts';
import type { ProfileRef } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';

const batchSize = 500; // sessions that one transaction ends

interface EndedSessions {
  /** Subject of the user; empty: any user. */
  readonly subject: string;
  /**
   * One session at the provider; empty: all sessions of the user. If `subject` is given too, the user's sessions for which no session
   * at the provider is stored end, too.
   */
  readonly providerSession: string;
}

/** Returns the keys of some sessions that end. */
function sessionsToEnd(tx: Tx, { tid, profile_id: id }: ProfileRef, { subject, providerSession }: EndedSessions) {
  let sessions = tx.selectFrom('visit_session').select('hash').where('tid', '=', tid).where('profile_id', '=', id);
  if (subject !== '') sessions = sessions.where('provider_subject', '=', subject);
  if (providerSession !== '')
    sessions = sessions.where(({ eb, or }) =>
      or([eb('provider_session', '=', providerSession), ...(subject === '' ? [] : [eb('provider_session', 'is', null)])]),
    );
  return sessions.limit(batchSize);
}

/**
 * Ends the sessions of a profile that its provider names: none if both `subject` and `providerSession` are empty. A provider can name one
 * session for very many users, so each transaction ends only some sessions.
 * @yields the visitors of ended sessions
 */
export async function* endProviderSessions(
  { store }: Pick<Ports, 'store'>,
  profile: ProfileRef,
  ended: EndedSessions,
): AsyncGenerator<readonly Pick<SignedInVisitor, 'name' | 'identityKey'>[]> {
  if (ended.subject === '' && ended.providerSession === '') return;
  const { tid, profile_id: id, type_id: typeId } = profile;
  let count: number;
  do {
    const rows = await store.write(
      (tx) =>
        tx
          .deleteFrom('visit_session')
          .where('tid', '=', tid)
          .where('hash', 'in', sessionsToEnd(tx, profile, ended))
          .returning(['name', 'provider_subject'])
          .execute(),
      { tenant: tid },
    );
    yield rows.map(({ name, provider_subject }) => ({ name, identityKey: identityKey({ id, typeId }, provider_subject ?? '') }));
    count = rows.length;
  } while (count === batchSize);
}
