import { useEffect, useState } from 'preact/hooks';
import type { PortalVisit, Visit } from '#core/records/visit.ts';
import { FailureCard } from './failure-card.tsx';
import { asFailure, Failure, isPortal, signOut, visit } from './link-api.ts';
import { PortalPage } from './portal-page.tsx';
import { AskingAgain } from './refused.ts';
import { SharePage } from './share-page.tsx';
import { SignInCard } from './sign-in/sign-in-card.tsx';
import { SignInDialog } from './sign-in/sign-in-dialog.tsx';
import { Speaking, type Speech, speakAs, speechFor, useSpeech } from './translations/use-translation.ts';
import { useReconnect } from './use-reconnect.ts';
import { Waiting } from './waiting.tsx';

type AnyVisit = Visit | PortalVisit;
type State = { kind: 'waiting' } | { kind: 'failed'; failure: Failure } | { kind: 'here'; visit: AnyVisit };

/** Kinds of sign-in that take a password here; for the others no form is offered that would be refused. */
const passwordKinds = ['PASSWORD', 'USERS'];
/** It may well be gone at the next try. */
const isPassing = ({ status }: Failure) => status === 0 || status === 429 || status >= 500;
const unavailable = new Failure(503, 'signInUnavailable', '', null);

interface Doings {
  /** Asks the link again, from the beginning. */
  readonly look: () => void;
  readonly show: (visit: AnyVisit) => void;
  readonly fail: (cause: unknown) => void;
  readonly leave: () => void;
}

function Page({ state, look, show, fail, leave }: Doings & { state: State }) {
  /** What was shown before the session ended: it stays beneath the sign-in, and goes on after it. */
  const [shown, setShown] = useState<Visit | null>(null);
  const [sessions, setSessions] = useState(0);
  useEffect(() => {
    if (state.kind === 'here' && 'share' in state.visit && state.visit.share) setShown(state.visit);
    if (state.kind !== 'here') setShown(null); // whoever signs out leaves nothing to be seen
  }, [state]);

  if (state.kind === 'waiting') return <Waiting />;
  if (state.kind === 'failed')
    return <FailureCard failure={state.failure} again={look} leave={state.failure.code === 'notAdmitted' ? leave : null} />;
  const { signIn } = state.visit;
  const signedIn = (visit: AnyVisit) => {
    setSessions(sessions + 1);
    show(visit);
  };
  if (signIn.signedIn && isPortal && 'shares' in state.visit) return <PortalPage visit={state.visit} leave={leave} />;
  if (!signIn.signedIn && !passwordKinds.includes(signIn.typeString))
    return <FailureCard failure={unavailable} again={look} leave={null} />;
  const current = 'share' in state.visit && state.visit.share ? state.visit : shown;
  if (!current?.share) return signIn.signedIn ? <Waiting /> : <SignInCard signIn={signIn} signedIn={signedIn} failed={fail} />;
  return (
    <>
      <SharePage key={current.visitor?.name ?? ''} visit={current} share={current.share} sessions={sessions} leave={leave} />
      {!signIn.signedIn && <SignInDialog signIn={signIn} signedIn={signedIn} />}
    </>
  );
}

/** The page of a link or a portal: it shows what `visit` answers, and asks again when a session has ended. */
export function App() {
  const [state, setState] = useState<State>({ kind: 'waiting' });
  const [speech, setSpeech] = useState<Speech>(useSpeech());
  const speak = async (lang: string) => {
    const found = await speechFor(lang);
    speakAs(found);
    setSpeech(found);
    setSpoken(true);
  };
  const [spoken, setSpoken] = useState(false);
  const show = (found: AnyVisit) => void speak(found.signIn.lang).then(() => setState({ kind: 'here', visit: found }));
  /** In the language that was spoken so far. */
  const fail = (cause: unknown) =>
    void (spoken ? Promise.resolve() : speak('')).then(() => setState({ kind: 'failed', failure: asFailure(cause) }));
  const look = () => void visit().then(show, fail);
  /** What is shown, and what is on its way, stays while the line or the server is gone for a moment. */
  const lookAgain = () =>
    void visit().then(show, (cause) => {
      if (!isPassing(asFailure(cause))) fail(cause);
    });
  const leave = () =>
    void signOut().then(() => {
      setState({ kind: 'waiting' });
      look();
    }, fail);
  useEffect(look, []);
  useReconnect(state.kind === 'failed' ? state.failure : null, look);
  return (
    <Speaking.Provider value={speech}>
      <AskingAgain.Provider value={lookAgain}>
        <Page state={state} look={look} show={show} fail={fail} leave={leave} />
      </AskingAgain.Provider>
    </Speaking.Provider>
  );
}
