import { Select, Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { Section } from '#console/records/section.tsx';
import { profileChoices } from '#console/shares/share-queries.ts';
import type { PersonValues } from './person-values.ts';

/** @param isNew the name can still be chosen */
export function PersonFields({ form, isNew }: { form: UseFormReturnType<PersonValues>; isNew: boolean }) {
  const { data: profiles = [] } = useQuery(profileChoices);
  return (
    <Section title="Who" lead={isNew ? 'Shares name people by their user name.' : 'The user name stays: shares name people by it.'}>
      <TextInput label="User name" required withAsterisk={false} readOnly={!isNew} {...form.getInputProps('username')} />
      <TextInput label="First name" {...form.getInputProps('firstName')} />
      <TextInput label="Last name" {...form.getInputProps('lastName')} />
      <TextInput label="E-mail" type="email" {...form.getInputProps('email')} />
      <Select
        label="Login profile"
        description={isNew ? undefined : 'Another one takes the person out of the shares that name them.'}
        searchable
        allowDeselect={false}
        data={profiles.map(({ id, title }) => ({ value: String(id), label: title }))}
        value={form.values.authId ? String(form.values.authId) : null}
        onChange={(id) => form.setFieldValue('authId', Number(id))}
        error={form.errors['authId']}
      />
      <Switch label="Can sign in" {...form.getInputProps('active', { type: 'checkbox' })} />
    </Section>
  );
}
