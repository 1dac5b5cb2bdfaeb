import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PortalVisit, Visit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { useCountdown } from '#visitor/failure-card.tsx';
import { asFailure, signIn as ask, type Failure } from '#visitor/link-api.ts';
import { failureWords } from '#visitor/translations/sentences.ts';
import { type Speech, useSpeech } from '#visitor/translations/use-translation.ts';

export interface SignInProperties {
  readonly signIn: Visit['signIn'];
  readonly signedIn: (visit: Visit | PortalVisit) => void;
  /** Told of what makes the form useless; without it the form tells everything itself. */
  readonly failed?: (cause: unknown) => void;
}

const told: readonly string[] = ['signInWrong', 'tooManyFailures', 'signInBusy', 'offline'];

/** Why nobody was signed in. */
function wordsOf(failure: Failure, asksUsername: boolean, speech: Speech): string {
  if (failure.code === 'signInWrong') return speech.say(asksUsername ? 'signInWrong' : 'passwordWrong');
  return failure.code === 'signInBusy' ? speech.say('signInBusy') : failureWords(failure, speech).title;
}

function PasswordField({ field, shown }: { field: RefObject<HTMLInputElement | null> | null; shown: boolean }) {
  const common = { ref: field, id: 'password', name: 'password', autocomplete: 'current-password', required: true } as const;
  return shown ? <input {...common} type="text" autocapitalize="none" spellcheck={false} /> : <input {...common} type="password" />;
}

/** One form, as password managers know it. */
export function SignInForm({ signIn, signedIn, failed }: SignInProperties) {
  const speech = useSpeech();
  const { say } = speech;
  const [problem, setProblem] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const [shown, setShown] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  const left = useCountdown(problem);
  useEffect(() => first.current?.focus(), []);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement) || busy || left > 0) return;
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    setProblem(null);
    try {
      signedIn(await ask(signIn.asksUsername ? String(fields.get('username')) : undefined, String(fields.get('password'))));
    } catch (cause) {
      const failure = asFailure(cause);
      if (failed && !told.includes(failure.code)) failed(failure);
      else setProblem(failure);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form onSubmit={submit} class="fields">
      {signIn.asksUsername && (
        <label>
          {say('userName')}
          <input ref={first} name="username" autocomplete="username" autocapitalize="none" spellcheck={false} required dir="auto" />
        </label>
      )}
      <div class="field">
        <label for="password">{say('password')}</label>
        <span class="with-button">
          <PasswordField field={signIn.asksUsername ? null : first} shown={shown} />
          <button type="button" class="icon-button" aria-pressed={shown} onClick={() => setShown(!shown)}>
            <Icon name="eye" />
            <span class="for-reader">{say(shown ? 'hidePassword' : 'showPassword')}</span>
          </button>
        </span>
      </div>
      <p class="problem" role="alert">
        {problem && wordsOf(problem, signIn.asksUsername, speech)}
      </p>
      {left > 0 && <p class="problem">{say('waitSeconds', { count: left })}</p>}
      <button class="button primary" type="submit" aria-disabled={busy || left > 0}>
        {say(busy ? 'signingIn' : 'signIn')}
      </button>
      {signIn.typeString === 'USERS' && <p class="quiet">{say('forgotPassword')}</p>}
    </form>
  );
}
