import { useEffect, useRef } from 'preact/hooks';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { SignInForm } from './sign-in-form.tsx';
import type { SignInProperties } from './sign-in-properties.ts';
import { signInTitle } from './sign-in-title.ts';

/** The sign-in dialog for a session that ended while the page was open. Paused uploads continue after the sign-in. */
export function SignInDialog(properties: SignInProperties) {
  const translation = useTranslation();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    // Browsers close a dialog after repeated Escape in spite of preventDefault. The dialog then opens again, because nothing works without
    // sign-in.
    <dialog
      ref={dialog}
      aria-labelledby="sign-in-again"
      onCancel={(event) => event.preventDefault()}
      onClose={() => dialog.current?.isConnected && dialog.current.showModal()}
    >
      <div class="fields">
        <h2 id="sign-in-again">{signInTitle(properties.signIn, translation)}</h2>
        <p class="muted">{translation.translate('signInAgain')}</p>
        <SignInForm {...properties} inWindow />
      </div>
    </dialog>
  );
}
