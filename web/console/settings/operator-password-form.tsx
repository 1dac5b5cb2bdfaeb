import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { asProblem, post } from '#console/api/call.ts';
import { faultsFor } from '#console/records/faults.ts';
import { PasswordAdvice } from '#console/shell/password-advice.tsx';

interface Props {
  readonly id: number;
  /** One's own: the password so far is asked for. */
  readonly own: boolean;
  readonly onSaved: () => void;
  readonly cancel?: () => void;
}

/** A new password of an operator. */
export function OperatorPasswordForm({ id, own, onSaved, cancel }: Props) {
  const [failed, setFailed] = useState('');
  const form = useForm({ initialValues: { currentPassword: '', password: '', confirmPassword: '' } });
  const save = form.onSubmit(async ({ currentPassword, ...values }) => {
    try {
      await post('operator/updatePassword', { id, ...values, ...(own ? { currentPassword } : {}) });
      onSaved();
    } catch (cause) {
      const problem = asProblem(cause);
      form.setErrors(problem.code === 'currentPasswordWrong' ? { currentPassword: 'This is not it.' } : faultsFor(problem));
      setFailed(problem.faults.length > 0 || problem.code === 'currentPasswordWrong' ? '' : problem.message);
    }
  });
  return (
    <form onSubmit={save}>
      <Stack>
        {own && <PasswordInput label="Password so far" autoComplete="current-password" {...form.getInputProps('currentPassword')} />}
        <PasswordInput label="New password" autoComplete="new-password" {...form.getInputProps('password')} />
        <PasswordAdvice password={form.values.password} />
        <PasswordInput label="New password again" autoComplete="new-password" {...form.getInputProps('confirmPassword')} />
        {failed && (
          <Text c="var(--loss)" role="alert">
            {failed}
          </Text>
        )}
        <Group justify="flex-end">
          {cancel && (
            <Button variant="default" onClick={cancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={form.submitting}>
            Set the password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
