import { Refusal } from '#core/messages.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import { endProviderSessions } from '#features/visits/sessions/end-provider-sessions.ts';
import { findSignInKind } from '#features/visits/sessions/find-sign-in-kind.ts';
import type { Ports } from '#ports/ports.ts';
import { findProfileRef } from './find-profile-ref.ts';

type SignOutPorts = Pick<Ports, 'store'> & Pick<VisitServices, 'audit' | 'signInKinds' | 'providerRequests'>;

/** A provider's statement that a user has signed out. */
export interface SignOutByProvider {
  readonly profileId: number;
  /** Signed text of the provider. */
  readonly logoutToken: string;
  readonly address: string;
  readonly requestId: string;
}

/**
 * Ends the sessions that the provider of a login profile names in a statement of a sign-out: of a user, or of one provider session.
 * @throws Refusal (400) if the statement is not valid; (404) if no such profile accepts sign-outs; (503)
 */
export async function endSessionsByProvider(ports: SignOutPorts, signOut: SignOutByProvider): Promise<void> {
  const { profileId, logoutToken, address, requestId } = signOut;
  const profile = await findProfileRef(ports.store.read, profileId);
  const signOutAtProvider = profile && findSignInKind(ports.signInKinds, profile)?.redirect?.signOut;
  if (!signOutAtProvider) throw new Refusal('notFound');
  ports.providerRequests.count(address, profileId);
  for await (const visitors of endProviderSessions(ports, profile, await signOutAtProvider.verify(profile, logoutToken)))
    for (const visitor of visitors)
      ports.audit.recordInBackground({
        ...{ link: null, tid: profile.tid, visitor, visitorRequest: { address, requestId } },
        ...{ action: 'sign-out', outcome: 'done', path: '', after: { by: 'provider' } },
      });
}
