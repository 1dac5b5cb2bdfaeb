import { useEffect, useState } from 'preact/hooks';
import type { PortalVisit, Visit } from '#core/records/visit.ts';
import { FailureCard } from './failure-card.tsx';
import { Failure, isPortal, signOut, visit } from './link-api.ts';
import { PortalPage } from './portal-page.tsx';
import { SharePage } from './share-page.tsx';
import { SignInCard } from './sign-in-card.tsx';
import { Waiting } from './waiting.tsx';

type State = { kind: 'waiting' } | { kind: 'failed'; failure: Failure } | { kind: 'here'; visit: Visit | PortalVisit };

/** The page of a link or a portal: it shows what `visit` answers, and asks again when a session has ended. */
export function App() {
  const [state, setState] = useState<State>({ kind: 'waiting' });
  const show = (found: Visit | PortalVisit) => setState({ kind: 'here', visit: found });
  const fail = (cause: unknown) =>
    setState({ kind: 'failed', failure: cause instanceof Failure ? cause : new Failure(0, '', 'Something went wrong.', null) });
  const look = () => visit().then(show, fail);
  const leave = () => signOut().then(look, fail);
  useEffect(() => void look(), []);

  if (state.kind === 'waiting') return <Waiting />;
  if (state.kind === 'failed')
    return <FailureCard failure={state.failure} again={look} leave={state.failure.code === 'notAdmitted' ? leave : null} />;
  const { signIn } = state.visit;
  if (!signIn.signedIn) return <SignInCard signIn={signIn} signedIn={show} failed={fail} />;
  if (isPortal && 'shares' in state.visit) return <PortalPage visit={state.visit} leave={leave} />;
  if ('share' in state.visit && state.visit.share)
    return <SharePage visit={state.visit} share={state.visit.share} ended={look} leave={leave} />;
  return <Waiting />;
}
