import { useEffect, useRef, useState } from 'preact/hooks';
import { signIn as sendSignIn } from '#visitor/link-api.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { AttemptProblem } from './attempt-problem.tsx';
import { CodeField } from './code-field.tsx';
import { type CodeRequest, deleteCodeRequest, readCodeRequest } from './code-request.ts';
import { EmailStep } from './email-step.tsx';
import { consumeMailedCode } from './mailed-code.ts';
import { ResendCode } from './resend-code.tsx';
import type { SignInProperties } from './sign-in-properties.ts';
import { useAttempt } from './use-attempt.ts';

/** Asks for the code that was sent. @param mailedCode code of the mail whose link has opened this page, or null */
function CodeStep({
  codeRequest,
  onRequested,
  onOtherEmail,
  mailedCode,
  onSignedIn,
  onFailure,
}: Omit<SignInProperties, 'signIn'> & {
  readonly codeRequest: CodeRequest;
  readonly onRequested: (codeRequest: CodeRequest) => void;
  readonly onOtherEmail: () => void;
  readonly mailedCode: string | null;
}) {
  const { translate } = useTranslation();
  const { problem, busy, secondsLeft, attempt } = useAttempt(onFailure);
  const field = useRef<HTMLInputElement>(null);
  const { email } = codeRequest;
  const signInWith = (code: string) =>
    attempt(async () => {
      const visit = await sendSignIn({ email, code });
      deleteCodeRequest();
      onSignedIn(visit);
    });
  useEffect(() => {
    if (mailedCode !== null) void signInWith(mailedCode);
    else field.current?.focus();
  }, []);
  function submit(event: SubmitEvent) {
    event.preventDefault();
    void signInWith(field.current?.value ?? '');
  }
  return (
    <form onSubmit={submit} class="fields">
      <p role="status">{translate('codeSent', { email })}</p>
      <CodeField field={field} mailedCode={mailedCode} />
      <AttemptProblem problem={problem} wrong={translate('codeWrong')} secondsLeft={secondsLeft} />
      <button class="button primary" type="submit" aria-disabled={busy || secondsLeft > 0}>
        {translate(busy ? 'signingIn' : 'signIn')}
      </button>
      <ResendCode use="signIn" codeRequest={codeRequest} form={{ busy, attempt }} onRequested={onRequested} onOtherEmail={onOtherEmail} />
    </form>
  );
}

/** The sign-in form for codes: it asks for the address, and then for the code that is sent there. */
export function CodeForm({ onSignedIn, onFailure }: SignInProperties) {
  const [codeRequest, setCodeRequest] = useState(() => readCodeRequest(Date.now()));
  const [mailedCode, setMailedCode] = useState(consumeMailedCode);
  /** Replaces the request and drops the mailed code, which belongs to an earlier request: sending it would use up an attempt. */
  function replaceRequest(newRequest: CodeRequest | null) {
    setMailedCode(null);
    setCodeRequest(newRequest);
  }
  if (codeRequest === null)
    return <EmailStep use="signIn" onRequested={replaceRequest} onFailure={onFailure} codeOfOtherBrowser={mailedCode} />;
  return (
    <CodeStep
      codeRequest={codeRequest}
      onRequested={replaceRequest}
      onOtherEmail={() => {
        deleteCodeRequest();
        replaceRequest(null);
      }}
      mailedCode={mailedCode}
      onSignedIn={onSignedIn}
      {...(onFailure ? { onFailure } : {})}
    />
  );
}
