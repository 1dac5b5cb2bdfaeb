import { useEffect, useState } from 'preact/hooks';
import { visibleName } from '#core/translations/visible-name.ts';
import { fetchVisit, linkPath } from '#visitor/link-api.ts';
import { describeFailure } from '#visitor/translations/sentences.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { consumeFailedSignIn, saveFolderAddress } from './provider-return.ts';
import type { SignInProperties } from './sign-in-properties.ts';

const pollInterval = 2000; // ms

/** Polls until the visitor has signed in in another window, and then calls `onSignedIn`. */
function useSignInElsewhere(isWaiting: boolean, onSignedIn: SignInProperties['onSignedIn']): void {
  useEffect(() => {
    if (!isWaiting) return;
    const poll = () =>
      void fetchVisit().then(
        (visit) => visit.signIn.signedIn && onSignedIn(visit),
        () => {}, // the next request may succeed
      );
    const timer = setInterval(poll, pollInterval);
    return () => clearInterval(timer);
  }, [isWaiting]);
}

/**
 * Leads to the provider at which visitors sign in.
 * @param inWindow true: in a second window, so that this page stays open. After the sign-in there, this page continues.
 */
export function ProviderForm({ signIn, onSignedIn, inWindow = false }: SignInProperties) {
  const translation = useTranslation();
  const { translate } = translation;
  const [failedSignIn] = useState(consumeFailedSignIn);
  const [isWaiting, setWaiting] = useState(false);
  useSignInElsewhere(isWaiting, onSignedIn);
  const follow = () => (inWindow ? setWaiting(true) : saveFolderAddress());
  const problem = failedSignIn && describeFailure(failedSignIn.failure, translation);
  return (
    <div class="fields">
      {problem && (
        <div class="notice" role="alert">
          <p>
            <strong>{problem.title}</strong>
          </p>
          <p>{problem.advice}</p>
          <p class="muted">{translate('reference', { reference: failedSignIn.reference })}</p>
        </div>
      )}
      <a class="button primary" href={`${linkPath}/sign-in/start`} onClick={follow} {...(inWindow ? { target: '_blank' } : {})}>
        {signIn.title === '' ? translate('signIn') : translate('continueWith', { title: visibleName(signIn.title) })}
      </a>
      {inWindow && (
        <p class="muted" role="status">
          {translate('signInInWindow')}
        </p>
      )}
    </div>
  );
}
