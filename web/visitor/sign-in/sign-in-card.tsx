import { useEffect } from 'preact/hooks';
import { visibleName } from '#core/translations/visible-name.ts';
import { SignInForm } from './sign-in-form.tsx';
import type { SignInProperties } from './sign-in-properties.ts';

/** The sign-in page: the title and the notice of the login profile, and the form. */
export function SignInCard(properties: SignInProperties) {
  const { title, startupMessage } = properties.signIn;
  useEffect(() => {
    document.title = visibleName(title);
  }, [title]);
  return (
    <main class="card">
      <div>
        <h1>{visibleName(title)}</h1>
        {startupMessage && <p class="quiet lines">{startupMessage}</p>}
      </div>
      <SignInForm {...properties} />
    </main>
  );
}
