import { useEffect, useRef, useState } from 'preact/hooks';
import { type Failure, fetchVisit, resetPassword } from '#visitor/link-api.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { AttemptProblem } from './attempt-problem.tsx';
import { CodeField } from './code-field.tsx';
import { EmailStep } from './email-step.tsx';
import { NewPasswordField } from './new-password-field.tsx';
import { forgetRequestedCode, type RequestedCode, recallRequestedCode } from './requested-code.ts';
import { ResendCode } from './resend-code.tsx';
import type { SignInProperties } from './sign-in-properties.ts';
import { useAttempt } from './use-attempt.ts';

interface ResetProperties extends Omit<SignInProperties, 'signIn'> {
  /** Code of the mail whose link has opened this page. */
  readonly mailedCode: string | null;
}

const isWeakPassword = (problem: Failure | null) => problem?.code === 'fieldInvalid';

/** Asks for the code that was sent, and for the new password. */
function NewPasswordStep({
  requested,
  onRequested,
  onOtherEmail,
  mailedCode,
  onSignedIn,
  onFailure,
}: ResetProperties & {
  readonly requested: RequestedCode;
  readonly onRequested: (requested: RequestedCode) => void;
  readonly onOtherEmail: () => void;
}) {
  const { translate } = useTranslation();
  const { problem, busy, secondsLeft, attempt } = useAttempt(onFailure);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const { email } = requested;
  function submit(event: SubmitEvent) {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const fields = new FormData(event.currentTarget);
    void attempt(async () => {
      await resetPassword({ email, code: String(fields.get('code')), password: String(fields.get('newPassword')) });
      forgetRequestedCode();
      onSignedIn(await fetchVisit());
    });
  }
  return (
    <form onSubmit={submit} class="fields">
      <p role="status">{translate('codeSent', { email })}</p>
      <CodeField field={field} mailedCode={mailedCode} />
      <NewPasswordField />
      <AttemptProblem
        problem={problem}
        wrong={translate(isWeakPassword(problem) ? 'passwordWeak' : 'codeWrong')}
        secondsLeft={secondsLeft}
      />
      <button class="button primary" type="submit" aria-disabled={busy || secondsLeft > 0}>
        {translate(busy ? 'saving' : 'setNewPassword')}
      </button>
      <ResendCode use="newPassword" requested={requested} form={{ busy, attempt }} onRequested={onRequested} onOtherEmail={onOtherEmail} />
    </form>
  );
}

/** The form for visitors who have forgotten their password: it asks for the address, and then for the code and a new password. */
export function ResetForm({ onBack, ...properties }: ResetProperties & { readonly onBack: () => void }) {
  const { translate } = useTranslation();
  const { mailedCode, onFailure } = properties;
  const [requested, setRequested] = useState(() => recallRequestedCode(Date.now()));
  function forget() {
    forgetRequestedCode();
    setRequested(null);
  }
  return (
    <div class="fields">
      {requested === null ? (
        <>
          <p>{translate('resetIntro')}</p>
          <EmailStep use="newPassword" onRequested={setRequested} onFailure={onFailure} foreignCode={mailedCode} />
        </>
      ) : (
        <NewPasswordStep {...properties} requested={requested} onRequested={setRequested} onOtherEmail={forget} />
      )}
      <button class="link-button" type="button" onClick={onBack}>
        {translate('backToSignIn')}
      </button>
    </div>
  );
}
