import { useEffect, useState } from 'preact/hooks';
import type { CodeUse } from '#core/mail/code-mail.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { type CodeRequest, sendCodeRequest } from './code-request.ts';
import type { useAttempt } from './use-attempt.ts';

const resendPause = 30; // seconds until another code can be requested

/** Returns the seconds until a moment, counting down to 0; at most 30, even if the clock was wrong. @param moment ms since the epoch */
function useSecondsUntil(moment: number): number {
  const [now, setNow] = useState(Date.now);
  const seconds = Math.min(resendPause, Math.max(0, Math.ceil((moment - now) / 1000)));
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [moment]);
  return seconds;
}

/** The choices if no code has arrived: another code after a pause, and another address. */
export function ResendCode({
  use,
  codeRequest,
  form: { busy, attempt },
  onRequested,
  onOtherEmail,
}: {
  readonly use: CodeUse;
  readonly codeRequest: CodeRequest;
  readonly form: Pick<ReturnType<typeof useAttempt>, 'busy' | 'attempt'>;
  readonly onRequested: (codeRequest: CodeRequest) => void;
  readonly onOtherEmail: () => void;
}) {
  const { translate } = useTranslation();
  const secondsUntilNew = useSecondsUntil(codeRequest.at + resendPause * 1000);
  return (
    <>
      <button
        class="button"
        type="button"
        disabled={secondsUntilNew > 0 || busy}
        onClick={() => void attempt(async () => onRequested(await sendCodeRequest(codeRequest.email, use)))}
      >
        {secondsUntilNew > 0 ? translate('newCodeIn', { count: secondsUntilNew }) : translate('newCode')}
      </button>
      <p class="muted">{translate('codeNotArrived')}</p>
      <button class="link-button" type="button" onClick={onOtherEmail}>
        {translate('otherEmail')}
      </button>
    </>
  );
}
