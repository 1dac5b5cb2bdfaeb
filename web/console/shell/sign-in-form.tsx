import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { asProblem, type Problem } from '#console/api/call.ts';
import { signIn, whoQuery } from '#console/api/session.ts';
import type { CallerRecord } from '#core/records/operator.ts';
import { useCountdown } from './countdown.ts';

/** The tenant that the address names, for operators of others than the first. */
const tenant = () => {
  const named = Number(new URLSearchParams(window.location.search).get('tenant'));
  return Number.isSafeInteger(named) && named > 0 ? { tid: named } : {};
};

const words = ({ status, message }: Problem) => (status === 401 ? 'The name or the password is wrong.' : message);

/** @param fixed whose session has ended: the name stays */
export function SignInForm({ fixed, onSignedIn }: { fixed?: CallerRecord; onSignedIn?: (who: CallerRecord) => void }) {
  const client = useQueryClient();
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const [left, wait] = useCountdown();
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setProblem(null);
    try {
      const who = await signIn({
        name: String(form.get('username')),
        password: String(form.get('password')),
        ...(fixed ? { tid: fixed.tid } : tenant()),
      });
      onSignedIn?.(who);
      client.setQueryData(whoQuery.queryKey, who);
      await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'who' });
    } catch (cause) {
      const failed = asProblem(cause);
      setProblem(failed);
      if (failed.retryAfter) wait(failed.retryAfter);
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
          autoFocus={!fixed}
          defaultValue={fixed?.name}
          readOnly={Boolean(fixed)}
          withAsterisk={false}
        />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          autoFocus={Boolean(fixed)}
          withAsterisk={false}
        />
        {problem && (
          <Alert color="red" role="alert">
            {left > 0 ? `Too many attempts. The next one can be made in ${left} s.` : words(problem)}
          </Alert>
        )}
        <Button type="submit" loading={busy} disabled={left > 0} size="md">
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
