import { useEffect, useRef, useState } from 'preact/hooks';
import { asFailure, changePassword, type Failure } from '#visitor/link-api.ts';
import { failureWords } from '#visitor/translations/sentences.ts';
import { type Speech, useSpeech } from '#visitor/translations/use-translation.ts';

const shortest = 10; // characters, as the server asks

function wordsOf(failure: Failure, speech: Speech): string {
  if (failure.code === 'currentPasswordWrong') return speech.say('passwordWrong');
  if (failure.code === 'fieldInvalid') return speech.say('passwordWeak');
  return failure.code === 'signInBusy' ? speech.say('signInBusy') : failureWords(failure, speech).title;
}

/** Changes the visitor's own password; Escape leaves it as it is. */
export function PasswordDialog({ close }: { close: () => void }) {
  const speech = useSpeech();
  const { say } = speech;
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState('');
  const [state, setState] = useState<'asking' | 'busy' | 'done'>('asking');
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close(); // gives the focus back
  }, []);
  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement) || state === 'busy') return;
    const fields = new FormData(event.currentTarget);
    setState('busy');
    setProblem('');
    try {
      await changePassword(String(fields.get('currentPassword')), String(fields.get('newPassword')));
      setState('done');
    } catch (cause) {
      setProblem(wordsOf(asFailure(cause), speech));
      setState('asking');
    }
  }
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="change-password">
      <form onSubmit={submit} class="fields">
        <h2 id="change-password">{say('changePassword')}</h2>
        {state === 'done' ? (
          <p role="status">{say('passwordChanged')}</p>
        ) : (
          <>
            <label>
              {say('currentPassword')}
              <input name="currentPassword" type="password" autocomplete="current-password" required />
            </label>
            <label>
              {say('newPassword')}
              <input
                name="newPassword"
                type="password"
                autocomplete="new-password"
                minLength={shortest}
                maxLength={256}
                required
                aria-describedby="new-password-hint"
              />
            </label>
            <p class="quiet" id="new-password-hint">
              {say('newPasswordHint')}
            </p>
          </>
        )}
        <p class="problem" role="alert">
          {problem}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            {say(state === 'done' ? 'close' : 'cancel')}
          </button>
          {state !== 'done' && (
            <button type="submit" class="button primary" disabled={state === 'busy'}>
              {say('changePassword')}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}
