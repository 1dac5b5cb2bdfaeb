import { useEffect, useRef, useState } from 'preact/hooks';
import { asFailure, changePassword, type Failure } from '#visitor/link-api.ts';
import { useReportFailure } from '#visitor/report-failure.ts';
import { describeFailure } from '#visitor/translations/sentences.ts';
import { type Translation, useTranslation } from '#visitor/translations/use-translation.ts';
import { NewPasswordField } from './new-password-field.tsx';

function problemText(failure: Failure, translation: Translation): string {
  if (failure.code === 'currentPasswordWrong') return translation.translate('currentPasswordWrong');
  if (failure.code === 'fieldInvalid') return translation.translate('passwordWeak');
  return failure.code === 'signInBusy' ? translation.translate('signInBusy') : describeFailure(failure, translation).title;
}

/** A dialog to change the visitor's own password. Escape cancels it. */
export function PasswordDialog({ close }: { close: () => void }) {
  const translation = useTranslation();
  const { translate } = translation;
  const dialog = useRef<HTMLDialogElement>(null);
  const reportFailure = useReportFailure();
  const [problem, setProblem] = useState('');
  const [state, setState] = useState<'editing' | 'busy' | 'done'>('editing');
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close(); // returns the focus
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
      setProblem(problemText(asFailure(cause), translation));
      reportFailure(cause);
      setState('editing');
    }
  }
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="change-password">
      <form onSubmit={submit} class="fields">
        <h2 id="change-password">{translate('changePassword')}</h2>
        {state === 'done' ? (
          <p role="status">{translate('passwordChanged')}</p>
        ) : (
          <>
            <label>
              {translate('currentPassword')}
              <input name="currentPassword" type="password" autocomplete="current-password" required />
            </label>
            <NewPasswordField />
          </>
        )}
        <p class="problem" role="alert">
          {problem}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            {translate(state === 'done' ? 'close' : 'cancel')}
          </button>
          {state !== 'done' && (
            <button type="submit" class="button primary" disabled={state === 'busy'}>
              {translate('changePassword')}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}
