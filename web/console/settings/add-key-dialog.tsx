import { Alert, Button, CopyButton, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { asProblem, post } from '#console/api/call.ts';
import { Dialog } from '#console/records/dialog.tsx';
import { faultsFor } from '#console/records/faults.ts';
import { roleChoices } from './roles.ts';

/** Makes a key, and shows it this once. */
export function AddKeyDialog({ close }: { close: () => void }) {
  const client = useQueryClient();
  const [key, setKey] = useState<string | null>(null);
  const [failed, setFailed] = useState('');
  const form = useForm<{ name: string; role: string; expiryDateTime: string | null }>({
    initialValues: { name: '', role: 'editor', expiryDateTime: null },
  });
  const save = form.onSubmit(async ({ expiryDateTime, ...values }) => {
    try {
      const made = await post<{ key: string }>('apikey/add', { ...values, ...(expiryDateTime ? { expiryDateTime } : {}) });
      setKey(made.key);
      await client.invalidateQueries({ queryKey: ['key'] });
    } catch (cause) {
      const problem = asProblem(cause);
      form.setErrors(faultsFor(problem));
      setFailed(problem.faults.length > 0 ? '' : problem.message);
    }
  });
  return (
    <Dialog onClose={close} title="New API key" closeOnClickOutside={key === null} closeOnEscape={key === null}>
      {key === null ? (
        <form onSubmit={save}>
          <Stack>
            <TextInput label="Name" description="Of the program that will use it." data-autofocus {...form.getInputProps('name')} />
            <Select label="Role" allowDeselect={false} data={roleChoices} {...form.getInputProps('role')} />
            <DatePickerInput
              label="Ends after"
              placeholder="Never"
              clearable
              {...form.getInputProps('expiryDateTime')}
              clearButtonProps={{ 'aria-label': 'Never' }}
            />
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
                Make the key
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <Stack>
          <Alert title="Copy it now" color="accent">
            It is not shown again: only its first characters are kept to recognise it by.
          </Alert>
          <TextInput aria-label="The key" readOnly value={key} onFocus={({ currentTarget }) => currentTarget.select()} />
          <Group justify="flex-end">
            <CopyButton value={key}>
              {({ copied, copy }) => (
                <Button variant="default" onClick={copy}>
                  {copied ? 'Copied' : 'Copy'}
                </Button>
              )}
            </CopyButton>
            <Button onClick={close}>I have it</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}
