import { useEffect, useState } from 'preact/hooks';
import type { PortalVisit, Visit } from '#core/records/visit.ts';
import { FailureCard } from './failure-card.tsx';
import { asFailure, Failure, fetchVisit, isPortal, signOut } from './link-api.ts';
import { LoadingRows } from './loading-rows.tsx';
import { PortalPage } from './portal-page.tsx';
import { RefreshContext } from './report-failure.ts';
import { SharePage } from './share-page.tsx';
import { SignInCard } from './sign-in/sign-in-card.tsx';
import { SignInDialog } from './sign-in/sign-in-dialog.tsx';
import { applyLanguage, loadTranslation, type Translation, TranslationContext, useTranslation } from './translations/use-translation.ts';
import { useReconnect } from './use-reconnect.ts';

type AnyVisit = Visit | PortalVisit;
type State = { kind: 'loading' } | { kind: 'failed'; failure: Failure } | { kind: 'loaded'; visit: AnyVisit };

/** Returns whether the next attempt may succeed. */
const isTransient = ({ status }: Failure) => status === 0 || status === 429 || status >= 500;
const signInUnavailable = new Failure(503, 'signInUnavailable', '', null);

interface PageActions {
  /** Requests the visit again and shows the result in place of the current page. */
  readonly reload: () => void;
  readonly show: (visit: AnyVisit) => void;
  readonly fail: (cause: unknown) => void;
  readonly onSignOut: () => void;
}

function Page({ state, reload, show, fail, onSignOut }: PageActions & { state: State }) {
  /** The last visit with a share. It stays on the page behind the sign-in dialog after the session has ended. */
  const [lastVisit, setLastVisit] = useState<Visit | null>(null);
  const [signInCount, setSignInCount] = useState(0);
  useEffect(() => {
    if (state.kind === 'loaded' && 'share' in state.visit && state.visit.share) setLastVisit(state.visit);
    if (state.kind !== 'loaded') setLastVisit(null); // after sign-out, no file names stay on the page
  }, [state]);

  if (state.kind === 'loading') return <LoadingRows />;
  if (state.kind === 'failed')
    return <FailureCard failure={state.failure} retry={reload} onSignOut={state.failure.code === 'notAdmitted' ? onSignOut : null} />;
  const { signIn } = state.visit;
  const onSignedIn = (visit: AnyVisit) => {
    setSignInCount(signInCount + 1);
    show(visit);
  };
  if (signIn.signedIn && isPortal && 'shares' in state.visit) return <PortalPage visit={state.visit} onSignOut={onSignOut} />;
  if (!signIn.signedIn && !signIn.asksPassword && !signIn.asksCode && !signIn.asksProvider)
    return <FailureCard failure={signInUnavailable} retry={reload} onSignOut={null} />;
  const current = 'share' in state.visit && state.visit.share ? state.visit : lastVisit;
  if (!current?.share) return signIn.signedIn ? <LoadingRows /> : <SignInCard signIn={signIn} onSignedIn={onSignedIn} onFailure={fail} />;
  return (
    <>
      <SharePage key={current.visitor?.name ?? ''} visit={current} share={current.share} signInCount={signInCount} onSignOut={onSignOut} />
      {!signIn.signedIn && <SignInDialog signIn={signIn} onSignedIn={onSignedIn} />}
    </>
  );
}

/** The page of a link or a portal. It requests the visit again when permissions may have changed. */
export function App() {
  const [state, setState] = useState<State>({ kind: 'loading' });
  const [translation, setTranslation] = useState<Translation>(useTranslation());
  const [isTranslated, setTranslated] = useState(false);
  const setLanguage = async (lang: string) => {
    const newTranslation = await loadTranslation(lang);
    applyLanguage(newTranslation);
    setTranslation(newTranslation);
    setTranslated(true);
  };
  const show = (visit: AnyVisit) => void setLanguage(visit.signIn.lang).then(() => setState({ kind: 'loaded', visit }));
  const fail = (cause: unknown) =>
    void (isTranslated ? Promise.resolve() : setLanguage('')).then(() => setState({ kind: 'failed', failure: asFailure(cause) }));
  const reload = () => void fetchVisit().then(show, fail);
  /** Requests the visit again. A transient failure changes nothing, so that the page and its uploads stay. */
  const refresh = () =>
    void fetchVisit().then(show, (cause) => {
      if (!isTransient(asFailure(cause))) fail(cause);
    });
  const onSignOut = () =>
    void signOut().then((providerUrl) => {
      setState({ kind: 'loading' });
      if (providerUrl === null) reload();
      else window.location.assign(providerUrl);
    }, fail);
  useEffect(reload, []);
  useReconnect(state.kind === 'failed' ? state.failure : null, reload);
  return (
    <TranslationContext.Provider value={translation}>
      <RefreshContext.Provider value={refresh}>
        <Page state={state} reload={reload} show={show} fail={fail} onSignOut={onSignOut} />
      </RefreshContext.Provider>
    </TranslationContext.Provider>
  );
}
