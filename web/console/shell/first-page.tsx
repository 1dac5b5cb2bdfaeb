import { PasswordInput, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { asProblem } from '#console/api/call.ts';
import { callerQuery, createFirstOperator } from '#console/api/session.ts';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { CardPage } from './card-page.tsx';
import { PasswordAdvice } from './password-advice.tsx';

/** Returns the token after `#` in the address of this page. It is sent only to create the first operator. */
const token = () => window.location.hash.slice(1);

/** The page of the first start. It creates the first operator and then opens the form of the first share. */
export function FirstPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [hasEnded, setHasEnded] = useState(false);
  const smallForm = useSmallForm({ name: '', password: '', confirmPassword: '' }, async (values) => {
    try {
      client.setQueryData(callerQuery.queryKey, await createFirstOperator({ token: token(), ...values }));
      await navigate({ to: '/shares/new', search: { welcome: true }, replace: true });
    } catch (cause) {
      if (asProblem(cause).status !== 410) throw cause;
      setHasEnded(true);
    }
  });
  const { form } = smallForm;
  if (hasEnded || token() === '')
    return (
      <CardPage title="This address no longer works" lead="It works once, and only for one hour after Postern has started.">
        <p>
          If you have an account, <a href="/console">sign in</a>. If nobody has one, restart Postern: it prints a new address.
        </p>
      </CardPage>
    );
  return (
    <CardPage title="Welcome to Postern" lead="Choose the name and password for your account. Then create your first share.">
      <SmallFormFields smallForm={smallForm} saveLabel="Create account">
        <TextInput label="Your name" autoComplete="username" required withAsterisk={false} autoFocus {...form.getInputProps('name')} />
        <PasswordInput
          label="Password"
          description="At least 10 characters. Three or four unrelated words make a good password."
          autoComplete="new-password"
          required
          withAsterisk={false}
          {...form.getInputProps('password')}
        />
        <PasswordAdvice password={form.values.password} />
        <PasswordInput
          label="Confirm password"
          autoComplete="new-password"
          required
          withAsterisk={false}
          {...form.getInputProps('confirmPassword')}
        />
      </SmallFormFields>
    </CardPage>
  );
}
