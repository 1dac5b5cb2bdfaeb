import { useEffect, useRef } from 'preact/hooks';
import type { CodeUse } from '#core/mail/code-mail.ts';
import { spacedCode } from '#core/sign-in-codes.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { AttemptProblem } from './attempt-problem.tsx';
import { type CodeRequest, sendCodeRequest } from './code-request.ts';
import type { SignInProperties } from './sign-in-properties.ts';
import { useAttempt } from './use-attempt.ts';

/** Asks for the address that a code is sent to. */
export function EmailStep({
  use,
  onRequested,
  onFailure,
  codeOfOtherBrowser,
}: {
  readonly use: CodeUse;
  readonly onRequested: (codeRequest: CodeRequest) => void;
  readonly onFailure: SignInProperties['onFailure'];
  /** Code of a mail whose link has opened this page, if this browser has not requested the code. */
  readonly codeOfOtherBrowser: string | null;
}) {
  const { language, translate } = useTranslation();
  const { problem, busy, secondsLeft, attempt } = useAttempt(onFailure);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  function submit(event: SubmitEvent) {
    event.preventDefault();
    const email = field.current?.value.trim() ?? '';
    void attempt(async () => onRequested(await sendCodeRequest(email, use)));
  }
  return (
    <form onSubmit={submit} class="fields">
      {codeOfOtherBrowser !== null && (
        <p class="notice" role="status">
          {translate('codeElsewhere', { code: spacedCode(codeOfOtherBrowser, language) })}
        </p>
      )}
      <label>
        {translate('emailAddress')}
        <input
          ref={field}
          name="email"
          type="email"
          autocomplete="email"
          autocapitalize="none"
          spellcheck={false}
          maxLength={254}
          required
        />
      </label>
      <AttemptProblem problem={problem} wrong={translate('emailWrong')} secondsLeft={secondsLeft} />
      <button class="button primary" type="submit" aria-disabled={busy || secondsLeft > 0}>
        {translate(busy ? 'sendingCode' : 'sendCode')}
      </button>
    </form>
  );
}
