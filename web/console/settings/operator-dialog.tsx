import { Button, Group, PasswordInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { asProblem, post } from '#console/api/call.ts';
import { Dialog } from '#console/records/dialog.tsx';
import { faultsFor } from '#console/records/faults.ts';
import { PasswordAdvice } from '#console/shell/password-advice.tsx';
import type { Operator } from '#core/records/operator.ts';
import { roleChoices } from './roles.ts';

/** An operator, new or with another name or role. */
export function OperatorDialog({ operator, close }: { operator: Operator | null; close: () => void }) {
  const client = useQueryClient();
  const [failed, setFailed] = useState('');
  const form = useForm<{ name: string; role: string; password: string; confirmPassword: string }>({
    initialValues: { name: operator?.name ?? '', role: operator?.role ?? 'editor', password: '', confirmPassword: '' },
  });
  const save = form.onSubmit(async ({ password, confirmPassword, ...values }) => {
    try {
      if (operator) await post('operator/update', { id: operator.id, ...values }, { ifMatch: operator.etag });
      else await post('operator/add', { ...values, password, confirmPassword });
      await client.invalidateQueries({ queryKey: ['operator'] });
      close();
    } catch (cause) {
      const problem = asProblem(cause);
      form.setErrors(faultsFor(problem));
      setFailed(problem.faults.length > 0 ? '' : problem.message);
    }
  });
  return (
    <Dialog onClose={close} title={operator ? operator.name : 'New operator'}>
      <form onSubmit={save}>
        <Stack>
          <TextInput label="Name" autoComplete="off" data-autofocus {...form.getInputProps('name')} />
          <Select label="Role" allowDeselect={false} data={roleChoices} {...form.getInputProps('role')} />
          {!operator && (
            <>
              <PasswordInput label="Password" autoComplete="new-password" {...form.getInputProps('password')} />
              <PasswordAdvice password={form.values.password} />
              <PasswordInput label="Password again" autoComplete="new-password" {...form.getInputProps('confirmPassword')} />
            </>
          )}
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
              {operator ? 'Save' : 'Add'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
