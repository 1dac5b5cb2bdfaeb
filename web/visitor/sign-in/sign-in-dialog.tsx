import { useEffect, useRef } from 'preact/hooks';
import { useSpeech } from '#visitor/translations/use-translation.ts';
import { SignInForm, type SignInProperties } from './sign-in-form.tsx';

/** A session ended while the page was open: the sign-in stands in front of it, and what was begun goes on after it. */
export function SignInDialog(properties: SignInProperties) {
  const { say } = useSpeech();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    // A browser closes it after some presses of Escape all the same: it comes back, since nothing else leads on.
    <dialog
      ref={dialog}
      aria-labelledby="sign-in-again"
      onCancel={(event) => event.preventDefault()}
      onClose={() => dialog.current?.isConnected && dialog.current.showModal()}
    >
      <div class="fields">
        <h2 id="sign-in-again">{properties.signIn.title}</h2>
        <p class="quiet">{say('signInAgain')}</p>
        <SignInForm {...properties} />
      </div>
    </dialog>
  );
}
