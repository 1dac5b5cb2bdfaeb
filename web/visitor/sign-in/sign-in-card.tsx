import { useEffect } from 'preact/hooks';
import { SignInForm, type SignInProperties } from './sign-in-form.tsx';

/** One card in the middle: the profile's title and welcome, two fields, one button. */
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
