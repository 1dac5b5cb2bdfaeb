import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { asProblem, type Problem } from '#console/api/call.ts';
import { callerQuery, signIn } from '#console/api/session.ts';
import { canUsePasskeys, confirmSignIn } from '#console/second-factor/passkeys.ts';
import type { CallerRecord, OperatorSignIn } from '#core/records/operator.ts';
import type { PasskeyRequest } from '#core/records/passkey.ts';
import { useCountdown } from './countdown.ts';

/** Returns the tenant in the URL. Operators of the first tenant need none. */
const tenant = () => {
  const tid = Number(new URLSearchParams(window.location.search).get('tenant'));
  return Number.isSafeInteger(tid) && tid > 0 ? { tid } : {};
};

function errorText({ status, code, message }: Problem, secondsLeft: number): string {
  if (code === 'secondFactorNeeded') return 'That took too long. Try again.';
  if (code === 'secondFactorWrong') return 'The code or passkey is wrong, or has been used already. Try again, with a new code.';
  if (status === 401) return 'Wrong name or password. Check both and try again.';
  if (secondsLeft <= 0) return message;
  if (status === 429) return `Too many attempts. Try again in ${secondsLeft} s.`;
  if (code === 'signInBusy') return `Too many sign-ins at the moment. Try again in ${secondsLeft} s.`;
  return `${message} Wait ${secondsLeft} s.`;
}

/** What the server asks for besides the password. */
interface SecondFactor {
  /** null: the operator has no passkey. */
  readonly passkey: PasskeyRequest | null;
}

/** The sign-in form. @param caller the operator whose session has ended: the name cannot be changed */
export function SignInForm({ caller, onSignedIn }: { caller?: CallerRecord; onSignedIn?: (caller: CallerRecord) => void }) {
  const client = useQueryClient();
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const [secondFactor, setSecondFactor] = useState<SecondFactor | null>(null);
  const [code, setCode] = useState('');
  const [secondsLeft, startCountdown] = useCountdown();
  const passkey = code === '' && canUsePasskeys() ? (secondFactor?.passkey ?? null) : null;

  async function send(form: FormData, proof: Pick<OperatorSignIn, 'code' | 'passkey'>) {
    const [name, password] = [String(form.get('username')), String(form.get('password'))];
    const operator = await signIn({ name, password, ...proof, ...(caller ? { tid: caller.tid } : tenant()) });
    onSignedIn?.(operator);
    client.setQueryData(callerQuery.queryKey, operator);
    await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'caller' });
  }
  /** Sends the form. If the server then asks for a passkey, the browser asks the operator for it at once. */
  async function signInWith(form: FormData) {
    if (passkey) return send(form, { passkey: await confirmSignIn(passkey) });
    if (secondFactor) return send(form, { code });
    try {
      await send(form, {});
    } catch (cause) {
      const refusal = asProblem(cause);
      if (refusal.code !== 'secondFactorNeeded') throw cause;
      setSecondFactor({ passkey: refusal.passkey });
      if (refusal.passkey && canUsePasskeys()) await send(form, { passkey: await confirmSignIn(refusal.passkey) });
    }
  }
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await signInWith(new FormData(event.currentTarget));
    } catch (cause) {
      const failure = asProblem(cause);
      if (failure.code === 'secondFactorNeeded') setSecondFactor({ passkey: failure.passkey });
      setProblem(failure);
      if (failure.retryAfter) startCountdown(failure.retryAfter);
    } finally {
      setBusy(false);
    }
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        <TextInput
          label="Name"
          name="username"
          autoComplete="username"
          required
          autoFocus={!caller}
          defaultValue={caller?.name}
          readOnly={Boolean(caller)}
          onChange={() => {
            setSecondFactor(null);
            setCode('');
          }}
          withAsterisk={false}
        />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          autoFocus={Boolean(caller)}
          withAsterisk={false}
        />
        {secondFactor && (
          <TextInput
            label="Code"
            description={`${secondFactor.passkey ? 'If you cannot use your passkey: the' : 'The'} six digits from your authenticator app, or a recovery code.`}
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            required={passkey === null}
            autoFocus={!secondFactor.passkey}
            withAsterisk={false}
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
          />
        )}
        {problem && (
          <Alert color="red" role="alert">
            {errorText(problem, secondsLeft)}
          </Alert>
        )}
        <Button type="submit" loading={busy} disabled={secondsLeft > 0} size="md">
          {passkey ? 'Sign in with passkey' : 'Sign in'}
        </Button>
      </Stack>
    </form>
  );
}
