import { useEffect, useRef, useState } from 'preact/hooks';
import { type Failure, fetchVisit, resetPassword } from '#visitor/link-api.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { AttemptProblem } from './attempt-problem.tsx';
import { CodeField } from './code-field.tsx';
import { type CodeRequest, deleteCodeRequest, readCodeRequest } from './code-request.ts';
import { EmailStep } from './email-step.tsx';
import { NewPasswordField } from './new-password-field.tsx';
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
  codeRequest,
  onRequested,
  onOtherEmail,
  mailedCode,
  onSignedIn,
  onFailure,
}: ResetProperties & {
  readonly codeRequest: CodeRequest;
  readonly onRequested: (codeRequest: CodeRequest) => void;
  readonly onOtherEmail: () => void;
}) {
  const { translate } = useTranslation();
  const { problem, busy, secondsLeft, attempt } = useAttempt(onFailure);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const { email } = codeRequest;
  function submit(event: SubmitEvent) {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const fields = new FormData(event.currentTarget);
    void attempt(async () => {
      await resetPassword({ email, code: String(fields.get('code')), password: String(fields.get('newPassword')) });
      deleteCodeRequest();
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
      <ResendCode
        use="newPassword"
        codeRequest={codeRequest}
        form={{ busy, attempt }}
        onRequested={onRequested}
        onOtherEmail={onOtherEmail}
      />
    </form>
  );
}

/** The form for visitors who have forgotten their password: it asks for the address, and then for the code and a new password. */
export function ResetForm({
  onBack,
  dropMailedCode,
  ...properties
}: ResetProperties & {
  readonly onBack: () => void;
  readonly dropMailedCode: () => void;
}) {
  const { translate } = useTranslation();
  const { mailedCode, onFailure } = properties;
  const [codeRequest, setCodeRequest] = useState(() => readCodeRequest(Date.now()));
  /** Also drops the mailed code, which belongs to an earlier request. */
  function replaceRequest(newRequest: CodeRequest | null) {
    dropMailedCode();
    setCodeRequest(newRequest);
  }
  function forget() {
    deleteCodeRequest();
    replaceRequest(null);
  }
  return (
    <div class="fields">
      {codeRequest === null ? (
        <>
          <p>{translate('resetIntro')}</p>
          <EmailStep use="newPassword" onRequested={replaceRequest} onFailure={onFailure} codeOfOtherBrowser={mailedCode} />
        </>
      ) : (
        <NewPasswordStep {...properties} codeRequest={codeRequest} onRequested={replaceRequest} onOtherEmail={forget} />
      )}
      <button class="link-button" type="button" onClick={onBack}>
        {translate('backToSignIn')}
      </button>
    </div>
  );
}
