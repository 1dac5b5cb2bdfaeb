import { PasswordInput } from '@mantine/core';
import { post } from '#console/api/call.ts';
import { SmallFormFields, useSmallForm } from '#console/records/small-form.tsx';
import { PasswordAdvice } from '#console/shell/password-advice.tsx';

interface Props {
  readonly id: number;
  /** One's own: the current password is asked for. */
  readonly own: boolean;
  readonly onSaved: () => void;
  readonly cancel?: () => void;
}

/** A new password of an operator. */
export function OperatorPasswordForm({ id, own, onSaved, cancel }: Props) {
  const small = useSmallForm(
    { currentPassword: '', password: '', confirmPassword: '' },
    async ({ currentPassword, ...values }) => {
      await post('operator/updatePassword', { id, ...values, ...(own ? { currentPassword } : {}) });
      onSaved();
    },
    ({ code }) => (code === 'currentPasswordWrong' ? { currentPassword: 'This is not it.' } : {}),
  );
  const { form } = small;
  return (
    <SmallFormFields of={small} saveLabel="Set the password" cancel={cancel}>
      {own && <PasswordInput label="Password so far" autoComplete="current-password" {...form.getInputProps('currentPassword')} />}
      <PasswordInput label="New password" autoComplete="new-password" {...form.getInputProps('password')} />
      <PasswordAdvice password={form.values.password} />
      <PasswordInput label="New password again" autoComplete="new-password" {...form.getInputProps('confirmPassword')} />
    </SmallFormFields>
  );
}
