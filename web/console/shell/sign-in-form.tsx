import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { asProblem, type Problem } from '#console/api/call.ts';
import { callerQuery, signIn } from '#console/api/session.ts';
import type { CallerRecord } from '#core/records/operator.ts';
import { useCountdown } from './countdown.ts';

/** Returns the tenant in the URL. Operators of the first tenant need none. */
const tenant = () => {
  const tid = Number(new URLSearchParams(window.location.search).get('tenant'));
  return Number.isSafeInteger(tid) && tid > 0 ? { tid } : {};
};

function errorText({ status, code, message }: Problem, secondsLeft: number): string {
  if (code === 'secondFactorWrong') return 'The code is wrong or has been used already. Wait for the next one and try again.';
  if (status === 401) return 'Wrong name or password. Check both and try again.';
  if (secondsLeft <= 0) return message;
  return status === 429 ? `Too many attempts. Try again in ${secondsLeft} s.` : `${message} (${secondsLeft} s).`;
}

/** The sign-in form. @param caller the operator whose session has ended: the name cannot be changed */
export function SignInForm({ caller, onSignedIn }: { caller?: CallerRecord; onSignedIn?: (caller: CallerRecord) => void }) {
  const client = useQueryClient();
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const [needsCode, setNeedsCode] = useState(false);
  const [secondsLeft, startCountdown] = useCountdown();
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setProblem(null);
    try {
      const signedIn = await signIn({
        name: String(form.get('username')),
        password: String(form.get('password')),
        ...(needsCode ? { code: String(form.get('code')) } : {}),
        ...(caller ? { tid: caller.tid } : tenant()),
      });
      onSignedIn?.(signedIn);
      client.setQueryData(callerQuery.queryKey, signedIn);
      await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'who' });
    } catch (cause) {
      const failure = asProblem(cause);
      if (failure.code === 'secondFactorNeeded') return setNeedsCode(true);
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
        {needsCode && (
          <TextInput
            label="Code"
            description="The six digits from your authenticator app, or a recovery code."
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            required
            autoFocus
            withAsterisk={false}
          />
        )}
        {problem && (
          <Alert color="red" role="alert">
            {errorText(problem, secondsLeft)}
          </Alert>
        )}
        <Button type="submit" loading={busy} disabled={secondsLeft > 0} size="md">
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
