import { useEffect, useRef, useState } from 'preact/hooks';
import { spacedCode } from '#core/sign-in-codes.ts';
import { requestCode, signIn as sendSignIn } from '#visitor/link-api.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { AttemptProblem } from './attempt-problem.tsx';
import { useUpMailedCode } from './mailed-code.ts';
import { forgetRequestedCode, type RequestedCode, recallRequestedCode, rememberRequestedCode } from './requested-code.ts';
import type { SignInProperties } from './sign-in-form.tsx';
import { useAttempt } from './use-attempt.ts';

const resendPause = 30; // seconds until another code can be requested

/** Returns the seconds until a moment. It counts down to 0. @param moment ms since the epoch */
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

/** Requests a code for an address. @returns the request, which other tabs see from then on */
async function sendRequest(email: string): Promise<RequestedCode> {
  await requestCode(email);
  const requested = { email, at: Date.now() };
  rememberRequestedCode(requested);
  return requested;
}

/** Asks for the address that a code is sent to. */
function EmailStep({
  onRequested,
  onFailure,
  foreignCode,
}: {
  readonly onRequested: (requested: RequestedCode) => void;
  readonly onFailure: SignInProperties['onFailure'];
  /** Code of a mail whose link was opened in another browser than the one where it was requested. */
  readonly foreignCode: string | null;
}) {
  const { translate } = useTranslation();
  const { problem, busy, secondsLeft, attempt } = useAttempt(onFailure);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  function submit(event: SubmitEvent) {
    event.preventDefault();
    const email = field.current?.value.trim() ?? '';
    void attempt(async () => onRequested(await sendRequest(email)));
  }
  return (
    <form onSubmit={submit} class="fields">
      {foreignCode !== null && (
        <p class="notice" role="status">
          {translate('codeElsewhere', { code: spacedCode(foreignCode) })}
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

/** Asks for the code that was sent. @param mailedCode code of the mail whose link has opened this page */
function CodeStep({
  requested,
  onRequested,
  onOtherEmail,
  mailedCode,
  onSignedIn,
  onFailure,
}: Omit<SignInProperties, 'signIn'> & {
  readonly requested: RequestedCode;
  readonly onRequested: (requested: RequestedCode) => void;
  readonly onOtherEmail: () => void;
  readonly mailedCode: string | null;
}) {
  const { translate } = useTranslation();
  const { problem, busy, secondsLeft, attempt } = useAttempt(onFailure);
  const secondsUntilNew = useSecondsUntil(requested.at + resendPause * 1000);
  const field = useRef<HTMLInputElement>(null);
  const { email } = requested;
  const enter = (code: string) =>
    attempt(async () => {
      const visit = await sendSignIn({ email, code });
      forgetRequestedCode();
      onSignedIn(visit);
    });
  useEffect(() => {
    if (mailedCode !== null) void enter(mailedCode);
    else field.current?.focus();
  }, []);
  function submit(event: SubmitEvent) {
    event.preventDefault();
    void enter(field.current?.value ?? '');
  }
  return (
    <form onSubmit={submit} class="fields">
      <p role="status">{translate('codeSent', { email })}</p>
      <label>
        {translate('code')}
        <input
          ref={field}
          name="code"
          class="code"
          defaultValue={mailedCode === null ? '' : spacedCode(mailedCode)}
          autocomplete="one-time-code"
          inputMode="numeric"
          maxLength={32}
          required
          dir="ltr"
        />
      </label>
      <AttemptProblem problem={problem} wrong={translate('codeWrong')} secondsLeft={secondsLeft} />
      <button class="button primary" type="submit" aria-disabled={busy || secondsLeft > 0}>
        {translate(busy ? 'signingIn' : 'signIn')}
      </button>
      <button
        class="button"
        type="button"
        disabled={secondsUntilNew > 0 || busy}
        onClick={() => void attempt(async () => onRequested(await sendRequest(email)))}
      >
        {secondsUntilNew > 0 ? translate('newCodeIn', { count: secondsUntilNew }) : translate('newCode')}
      </button>
      <p class="quiet">{translate('codeNotArrived')}</p>
      <button class="link-button" type="button" onClick={onOtherEmail}>
        {translate('otherEmail')}
      </button>
    </form>
  );
}

/** The sign-in form for codes: it asks for the address, and then for the code that is sent there. */
export function CodeForm({ onSignedIn, onFailure }: SignInProperties) {
  const [requested, setRequested] = useState(() => recallRequestedCode(Date.now()));
  const [mailedCode] = useState(useUpMailedCode);
  if (requested === null) return <EmailStep onRequested={setRequested} onFailure={onFailure} foreignCode={mailedCode} />;
  return (
    <CodeStep
      requested={requested}
      onRequested={setRequested}
      onOtherEmail={() => {
        forgetRequestedCode();
        setRequested(null);
      }}
      mailedCode={mailedCode}
      onSignedIn={onSignedIn}
      {...(onFailure ? { onFailure } : {})}
    />
  );
}
