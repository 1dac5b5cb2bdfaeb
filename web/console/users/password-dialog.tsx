import { PasswordInput, Text } from '@mantine/core';
import { post } from '#console/api/call.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { showMessage } from '#console/components/show-message.tsx';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { PasswordAdvice } from '#console/shell/password-advice.tsx';
import type { AccessUser } from '#core/records/access-user.ts';

/** Sets the password of a user. Open sessions of the user end. */
export function PasswordDialog({ user, close }: { user: Pick<AccessUser, 'username' | 'authId'>; close: () => void }) {
  const smallForm = useSmallForm({ userPassword: '', confirmPassword: '' }, async (values) => {
    await post('accessuser/updateUserPassword', { ...values, username: user.username, authId: user.authId });
    showMessage({ text: `${user.username} has a new password.` });
    close();
  });
  const { form } = smallForm;
  return (
    <Dialog onClose={close} title={`Set password of ${user.username}`}>
      <SmallFormFields smallForm={smallForm} saveLabel="Set password" cancel={close}>
        <Text c="dimmed" size="sm">
          When you set the password, all sessions of this user end at once.
        </Text>
        <PasswordInput label="New password" autoComplete="new-password" data-autofocus {...form.getInputProps('userPassword')} />
        <PasswordAdvice password={form.values.userPassword} />
        <PasswordInput label="Confirm password" autoComplete="new-password" {...form.getInputProps('confirmPassword')} />
      </SmallFormFields>
    </Dialog>
  );
}
