import { useEffect } from 'preact/hooks';
import { SignInForm, type SignInProperties } from './sign-in-form.tsx';

/** The sign-in page: the title and the message of the login profile, and the form. */
export function SignInCard(properties: SignInProperties) {
  const { title, startupMessage } = properties.signIn;
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <main class="card">
      <div>
        <h1>{title}</h1>
        {startupMessage && <p class="quiet lines">{startupMessage}</p>}
      </div>
      <SignInForm {...properties} />
    </main>
  );
}
