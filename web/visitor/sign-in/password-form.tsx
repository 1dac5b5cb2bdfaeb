import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import { signIn as sendSignIn } from '#visitor/link-api.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { AttemptProblem } from './attempt-problem.tsx';
import { consumeMailedCode } from './mailed-code.ts';
import { ResetForm } from './reset-form.tsx';
import type { SignInProperties } from './sign-in-properties.ts';
import { useAttempt } from './use-attempt.ts';

function PasswordField({ field, isVisible }: { field: RefObject<HTMLInputElement | null> | null; isVisible: boolean }) {
  const common = { ref: field, id: 'password', name: 'password', autocomplete: 'current-password', required: true } as const;
  return isVisible ? <input {...common} type="text" autocapitalize="none" spellcheck={false} /> : <input {...common} type="password" />;
}

/** Asks for the password, and for the user name if the profile has one, with field names that password managers recognize. */
function EnterPassword({ signIn, onSignedIn, onFailure, onForgotten }: SignInProperties & { readonly onForgotten: () => void }) {
  const { translate } = useTranslation();
  const { problem, busy, secondsLeft, attempt } = useAttempt(onFailure);
  const [isPasswordVisible, setPasswordVisible] = useState(false);
  const firstField = useRef<HTMLInputElement>(null);
  useEffect(() => firstField.current?.focus(), []);

  function submit(event: SubmitEvent) {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const fields = new FormData(event.currentTarget);
    const username = signIn.asksUsername ? { username: String(fields.get('username')) } : {};
    void attempt(async () => onSignedIn(await sendSignIn({ ...username, password: String(fields.get('password')) })));
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
      <AttemptProblem
        problem={problem}
        wrong={translate(signIn.asksUsername ? 'signInWrong' : 'passwordWrong')}
        secondsLeft={secondsLeft}
      />
      <button class="button primary" type="submit" aria-disabled={busy || secondsLeft > 0}>
        {translate(busy ? 'signingIn' : 'signIn')}
      </button>
      {signIn.canResetPassword && (
        <button class="link-button" type="button" onClick={onForgotten}>
          {translate('forgotPassword')}
        </button>
      )}
      {signIn.canChangePassword && !signIn.canResetPassword && <p class="muted">{translate('askForPassword')}</p>}
    </form>
  );
}

/** The sign-in form for passwords. If passwords can be reset, a visitor can also open a form to set a new one. */
export function PasswordForm(properties: SignInProperties) {
  const { onSignedIn, onFailure } = properties;
  const [mailedCode, setMailedCode] = useState(consumeMailedCode);
  const [isForgotten, setForgotten] = useState(mailedCode !== null && properties.signIn.canResetPassword);
  if (!isForgotten) return <EnterPassword {...properties} onForgotten={() => setForgotten(true)} />;
  const failure = onFailure ? { onFailure } : {};
  return (
    <ResetForm
      mailedCode={mailedCode}
      dropMailedCode={() => setMailedCode(null)}
      onSignedIn={onSignedIn}
      {...failure}
      onBack={() => setForgotten(false)}
    />
  );
}
