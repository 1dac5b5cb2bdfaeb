import { PasswordInput, Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { post } from '#console/api/call.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { PasswordAdvice } from '#console/shell/password-advice.tsx';
import type { Operator } from '#core/records/operator.ts';
import { roleChoices } from './roles.ts';

/** Adds an operator, or changes the name or role of one. */
export function OperatorDialog({ operator, close }: { operator: Operator | null; close: () => void }) {
  const client = useQueryClient();
  const initial = { name: operator?.name ?? '', role: operator?.role ?? ('editor' as const), password: '', confirmPassword: '' };
  const smallForm = useSmallForm(initial, async ({ name, role, ...secrets }) => {
    if (operator) await post('operator/update', { id: operator.id, name, role }, { ifMatch: operator.etag });
    else await post('operator/add', { name, role, ...secrets });
    await client.invalidateQueries({ queryKey: ['operator'] });
    close();
  });
  const { form } = smallForm;
  return (
    <Dialog onClose={close} title={operator ? operator.name : 'Add operator'}>
      <SmallFormFields smallForm={smallForm} saveLabel={operator ? 'Save' : 'Add operator'} cancel={close}>
        <TextInput label="Name" autoComplete="off" data-autofocus {...form.getInputProps('name')} />
        <Select label="Role" allowDeselect={false} data={roleChoices} {...form.getInputProps('role')} />
        {!operator && (
          <>
            <PasswordInput label="Password" autoComplete="new-password" {...form.getInputProps('password')} />
            <PasswordAdvice password={form.values.password} />
            <PasswordInput label="Confirm password" autoComplete="new-password" {...form.getInputProps('confirmPassword')} />
          </>
        )}
      </SmallFormFields>
    </Dialog>
  );
}
