import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PortalVisit, Visit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { useCountdown } from './failure-card.tsx';
import { signIn as ask, Failure } from './link-api.ts';

interface Properties {
  readonly signIn: Visit['signIn'];
  readonly signedIn: (visit: Visit | PortalVisit) => void;
  readonly failed: (cause: unknown) => void;
}

const words: Record<string, string> = {
  signInWrong: 'The name or the password is wrong.',
  tooManyFailures: 'Too many attempts.',
  signInBusy: 'Many people are signing in at this moment. Try again in a few seconds.',
  offline: 'The server cannot be reached. Check your connection.',
};

function PasswordField({ field, shown }: { field: RefObject<HTMLInputElement | null> | null; shown: boolean }) {
  const common = { ref: field, id: 'password', name: 'password', autocomplete: 'current-password', required: true } as const;
  return shown ? <input {...common} type="text" /> : <input {...common} type="password" />;
}

/** One card in the middle: the profile's title and welcome, two fields, one button. */
export function SignInCard({ signIn, signedIn, failed }: Properties) {
  const [problem, setProblem] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const [shown, setShown] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  const left = useCountdown(problem?.retryAfter ?? null);
  useEffect(() => {
    document.title = signIn.title;
    first.current?.focus();
  }, [signIn.title]);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    try {
      signedIn(await ask(signIn.asksUsername ? String(fields.get('username')) : undefined, String(fields.get('password'))));
    } catch (cause) {
      if (cause instanceof Failure && cause.code in words) setProblem(cause);
      else failed(cause);
    } finally {
      setBusy(false);
    }
  }

  return (
    <main class="card">
      <div>
        <h1>{signIn.title}</h1>
        {signIn.startupMessage && <p class="quiet lines">{signIn.startupMessage}</p>}
      </div>
      <form onSubmit={submit} class="fields">
        {signIn.asksUsername && (
          <label>
            User name
            <input ref={first} name="username" autocomplete="username" autocapitalize="none" spellcheck={false} required />
          </label>
        )}
        <div class="field">
          <label for="password">Password</label>
          <span class="with-button">
            <PasswordField field={signIn.asksUsername ? null : first} shown={shown} />
            <button type="button" class="icon-button" aria-pressed={shown} onClick={() => setShown(!shown)}>
              <Icon name="eye" />
              <span class="for-reader">{shown ? 'Hide what is typed' : 'Show what is typed'}</span>
            </button>
          </span>
        </div>
        <p class="problem" role="alert">
          {problem && (words[problem.code] ?? '')} {left > 0 && `Wait ${left} s.`}
        </p>
        <button class="button primary" type="submit" disabled={busy || left > 0}>
          {busy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
