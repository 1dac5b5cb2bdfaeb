import { PasswordInput, Text } from '@mantine/core';
import { post } from '#console/api/call.ts';
import { Dialog } from '#console/records/dialog.tsx';
import { SmallFormFields, useSmallForm } from '#console/records/small-form.tsx';
import { showMessage } from '#console/records/told.tsx';
import { PasswordAdvice } from '#console/shell/password-advice.tsx';
import type { AccessUser } from '#core/records/access-user.ts';

/** Sets a person's password: their open sessions end. */
export function PasswordDialog({ person, close }: { person: Pick<AccessUser, 'username' | 'authId'>; close: () => void }) {
  const small = useSmallForm({ userPassword: '', confirmPassword: '' }, async (values) => {
    await post('accessuser/updateUserPassword', { ...values, username: person.username, authId: person.authId });
    showMessage({ words: `${person.username} has a new password.` });
    close();
  });
  const { form } = small;
  return (
    <Dialog onClose={close} title={`Password of ${person.username}`}>
      <SmallFormFields of={small} saveLabel="Set the password" cancel={close}>
        <Text c="dimmed" size="sm">
          Whoever is signed in with the old one is signed out at once.
        </Text>
        <PasswordInput label="New password" autoComplete="new-password" data-autofocus {...form.getInputProps('userPassword')} />
        <PasswordAdvice password={form.values.userPassword} />
        <PasswordInput label="The same again" autoComplete="new-password" {...form.getInputProps('confirmPassword')} />
      </SmallFormFields>
    </Dialog>
  );
}
