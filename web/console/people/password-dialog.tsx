import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { asProblem, post } from '#console/api/call.ts';
import { Dialog } from '#console/records/dialog.tsx';
import { faultsFor } from '#console/records/faults.ts';
import { told } from '#console/records/told.tsx';
import { PasswordAdvice } from '#console/shell/password-advice.tsx';
import type { AccessUser } from '#core/records/access-user.ts';

/** Sets a person's password: their open sessions end. */
export function PasswordDialog({ person, close }: { person: Pick<AccessUser, 'username' | 'authId'>; close: () => void }) {
  const form = useForm({ initialValues: { userPassword: '', confirmPassword: '' } });
  const [failed, setFailed] = useState('');
  const save = form.onSubmit(async (values) => {
    try {
      await post('accessuser/updateUserPassword', { ...values, username: person.username, authId: person.authId });
      told({ words: `${person.username} has a new password.` });
      close();
    } catch (cause) {
      const problem = asProblem(cause);
      form.setErrors(faultsFor(problem));
      setFailed(problem.faults.length > 0 ? '' : problem.message);
    }
  });
  return (
    <Dialog onClose={close} title={`Password of ${person.username}`}>
      <form onSubmit={save}>
        <Stack>
          <Text c="dimmed" size="sm">
            Whoever is signed in with the old one is signed out at once.
          </Text>
          <PasswordInput label="New password" autoComplete="new-password" data-autofocus {...form.getInputProps('userPassword')} />
          <PasswordAdvice password={form.values.userPassword} />
          <PasswordInput label="The same again" autoComplete="new-password" {...form.getInputProps('confirmPassword')} />
          {failed && (
            <Text c="var(--loss)" role="alert">
              {failed}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={form.submitting}>
              Set the password
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
