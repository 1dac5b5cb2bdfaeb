import { useEffect } from 'preact/hooks';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { SignInForm } from './sign-in-form.tsx';
import type { SignInProperties } from './sign-in-properties.ts';
import { signInTitle } from './sign-in-title.ts';

/** The sign-in page: the title and the notice of the login profile, and the form. */
export function SignInCard(properties: SignInProperties) {
  const { startupMessage } = properties.signIn;
  const title = signInTitle(properties.signIn, useTranslation());
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <main class="card">
      <div>
        <h1>{title}</h1>
        {startupMessage && <p class="muted lines">{startupMessage}</p>}
      </div>
      <SignInForm {...properties} />
    </main>
  );
}
