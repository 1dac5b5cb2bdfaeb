import { PasswordInput } from '@mantine/core';
import { post } from '#console/api/call.ts';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { PasswordAdvice } from '#console/shell/password-advice.tsx';

interface Props {
  readonly id: number;
  /** The operator changes their own password and must enter the current one. */
  readonly own: boolean;
  readonly onSaved: () => void;
  readonly cancel?: () => void;
}

export function OperatorPasswordForm({ id, own, onSaved, cancel }: Props) {
  const smallForm = useSmallForm(
    { currentPassword: '', password: '', confirmPassword: '' },
    async ({ currentPassword, ...values }) => {
      await post('operator/updatePassword', { id, ...values, ...(own ? { currentPassword } : {}) });
      onSaved();
    },
    ({ code }) => (code === 'currentPasswordWrong' ? { currentPassword: 'The current password is wrong.' } : {}),
  );
  const { form } = smallForm;
  return (
    <SmallFormFields smallForm={smallForm} saveLabel="Set password" cancel={cancel}>
      {own && <PasswordInput label="Current password" autoComplete="current-password" {...form.getInputProps('currentPassword')} />}
      <PasswordInput label="New password" autoComplete="new-password" {...form.getInputProps('password')} />
      <PasswordAdvice password={form.values.password} />
      <PasswordInput label="Confirm new password" autoComplete="new-password" {...form.getInputProps('confirmPassword')} />
    </SmallFormFields>
  );
}
