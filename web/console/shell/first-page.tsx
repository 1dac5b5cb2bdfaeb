import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { asProblem, type Problem } from '#console/api/call.ts';
import { makeFirst, whoQuery } from '#console/api/session.ts';
import { faultsFor } from '#console/records/faults.ts';
import { Entrance } from './entrance.tsx';
import { PasswordAdvice } from './password-advice.tsx';

/** What the first address carries behind #: it is never sent but to make the first operator. */
const token = () => window.location.hash.slice(1);

/** The first start: a name and a password, then the first share. */
export function FirstPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [problem, setProblem] = useState<Problem | null>(null);
  const form = useForm({ initialValues: { name: '', password: '', confirmPassword: '' } });
  const save = form.onSubmit(async (values) => {
    setProblem(null);
    try {
      const who = await makeFirst({ token: token(), ...values });
      client.setQueryData(whoQuery.queryKey, who);
      await navigate({ to: '/shares/new', search: { welcome: true }, replace: true });
    } catch (cause) {
      const failed = asProblem(cause);
      form.setErrors(faultsFor(failed));
      setProblem(failed.faults.length > 0 ? null : failed);
    }
  });
  if (problem?.status === 410 || token() === '')
    return (
      <Entrance title="This address no longer works" lead="It works once, and for an hour after the start.">
        <p>
          If you have an account, <a href="/console">sign in</a>. If nobody has, start Postern anew: it prints another address.
        </p>
      </Entrance>
    );
  return (
    <Entrance title="Welcome to Postern" lead="Choose the name and the password that you will sign in with. Your first share comes next.">
      <form onSubmit={save}>
        <Stack>
          <TextInput label="Your name" autoComplete="username" required withAsterisk={false} autoFocus {...form.getInputProps('name')} />
          <PasswordInput
            label="Password"
            description="At least 10 characters. Three or four words that have nothing to do with each other are a good one."
            autoComplete="new-password"
            required
            withAsterisk={false}
            {...form.getInputProps('password')}
          />
          <PasswordAdvice password={form.values.password} />
          <PasswordInput
            label="Password again"
            autoComplete="new-password"
            required
            withAsterisk={false}
            {...form.getInputProps('confirmPassword')}
          />
          {problem && (
            <Alert color="red" role="alert">
              {problem.message}
            </Alert>
          )}
          <Button type="submit" size="md" loading={form.submitting}>
            Begin
          </Button>
        </Stack>
      </form>
    </Entrance>
  );
}
