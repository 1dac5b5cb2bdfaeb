import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PortalVisit, Visit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { useCountdown } from '#visitor/failure-card.tsx';
import { asFailure, type Failure, signIn as sendSignIn } from '#visitor/link-api.ts';
import { describeFailure } from '#visitor/translations/sentences.ts';
import { type Translation, useTranslation } from '#visitor/translations/use-translation.ts';

export interface SignInProperties {
  readonly signIn: Visit['signIn'];
  readonly onSignedIn: (visit: Visit | PortalVisit) => void;
  /** Receives failures after which the form is useless. Without it, the form shows all failures. */
  readonly onFailure?: (cause: unknown) => void;
}

/** The codes of failures that the form shows: another attempt may succeed. */
const formFailures: readonly string[] = ['signInWrong', 'tooManyFailures', 'signInBusy', 'offline'];

/** Returns why the sign-in failed. */
function problemText(failure: Failure, asksUsername: boolean, translation: Translation): string {
  if (failure.code === 'signInWrong') return translation.translate(asksUsername ? 'signInWrong' : 'passwordWrong');
  return failure.code === 'signInBusy' ? translation.translate('signInBusy') : describeFailure(failure, translation).title;
}

function PasswordField({ field, isVisible }: { field: RefObject<HTMLInputElement | null> | null; isVisible: boolean }) {
  const common = { ref: field, id: 'password', name: 'password', autocomplete: 'current-password', required: true } as const;
  return isVisible ? <input {...common} type="text" autocapitalize="none" spellcheck={false} /> : <input {...common} type="password" />;
}

/** The sign-in form, with the field names that password managers recognize. */
export function SignInForm({ signIn, onSignedIn, onFailure }: SignInProperties) {
  const translation = useTranslation();
  const { translate } = translation;
  const [problem, setProblem] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const [isPasswordVisible, setPasswordVisible] = useState(false);
  const firstField = useRef<HTMLInputElement>(null);
  const secondsLeft = useCountdown(problem);
  useEffect(() => firstField.current?.focus(), []);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement) || busy || secondsLeft > 0) return;
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    setProblem(null);
    try {
      onSignedIn(await sendSignIn(signIn.asksUsername ? String(fields.get('username')) : undefined, String(fields.get('password'))));
    } catch (cause) {
      const failure = asFailure(cause);
      if (onFailure && !formFailures.includes(failure.code)) onFailure(failure);
      else setProblem(failure);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form onSubmit={submit} class="fields">
      {signIn.asksUsername && (
        <label>
          {translate('userName')}
          <input ref={firstField} name="username" autocomplete="username" autocapitalize="none" spellcheck={false} required dir="auto" />
        </label>
      )}
      <div class="field">
        <label for="password">{translate('password')}</label>
        <span class="with-button">
          <PasswordField field={signIn.asksUsername ? null : firstField} isVisible={isPasswordVisible} />
          <button type="button" class="icon-button" aria-pressed={isPasswordVisible} onClick={() => setPasswordVisible(!isPasswordVisible)}>
            <Icon name="eye" />
            <span class="for-reader">{translate(isPasswordVisible ? 'hidePassword' : 'showPassword')}</span>
          </button>
        </span>
      </div>
      <p class="problem" role="alert">
        {problem && problemText(problem, signIn.asksUsername, translation)}
      </p>
      {secondsLeft > 0 && <p class="problem">{translate('waitSeconds', { count: secondsLeft })}</p>}
      <button class="button primary" type="submit" aria-disabled={busy || secondsLeft > 0}>
        {translate(busy ? 'signingIn' : 'signIn')}
      </button>
      {signIn.canChangePassword && <p class="quiet">{translate('forgotPassword')}</p>}
    </form>
  );
}
