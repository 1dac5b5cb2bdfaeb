import { Alert, Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '#console/api/call.ts';
import { CopyField } from '#console/components/copy-field.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { instantOf } from '#console/shares/share-values.ts';
import { useCaller } from '#console/shell/caller.ts';
import type { Role } from '#core/authorization/role.ts';
import { keyRoleChoices } from './roles.ts';

/** Creates an API key and shows it once. */
export function AddKeyDialog({ close }: { close: () => void }) {
  const client = useQueryClient();
  const { tid } = useCaller();
  const [key, setKey] = useState<string | null>(null);
  const initial: { name: string; role: Role; expiryDateTime: string | null } = { name: '', role: 'editor', expiryDateTime: null };
  const smallForm = useSmallForm(initial, async ({ expiryDateTime, ...values }) => {
    const endOfDay = expiryDateTime && instantOf(`${expiryDateTime} 24:00:00`); // for a date alone, the server would use UTC
    const newKey = await post('apikey/add', { ...values, ...(endOfDay ? { expiryDateTime: endOfDay } : {}) });
    setKey(newKey.key);
    await client.invalidateQueries({ queryKey: ['key'] });
  });
  const { form } = smallForm;
  return (
    <Dialog onClose={close} title="Create API key" closeOnEscape={key === null} withCloseButton={key === null}>
      {key === null ? (
        <SmallFormFields smallForm={smallForm} saveLabel="Create key" cancel={close}>
          <TextInput label="Name" description="Name of the program that will use the key." data-autofocus {...form.getInputProps('name')} />
          <Select label="Role" allowDeselect={false} data={keyRoleChoices(tid)} {...form.getInputProps('role')} />
          <DatePickerInput
            label="Expires after"
            placeholder="Never"
            clearable
            {...form.getInputProps('expiryDateTime')}
            clearButtonProps={{ 'aria-label': 'Never' }}
          />
        </SmallFormFields>
      ) : (
        <Stack>
          <Alert title="Copy the key now" color="accent">
            It is not shown again. Postern stores a hash of it, and its first characters so that you can recognize it.
          </Alert>
          <Group align="end" wrap="nowrap" gap="xs">
            <CopyField label="Your new key" value={key} copyLabel="Copy key" />
          </Group>
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}
