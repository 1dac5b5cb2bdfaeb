import { Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Section } from '#console/components/section.tsx';
import { ProfileSelect } from '#console/profiles/profile-select.tsx';
import type { UserValues } from './user-values.ts';

const moveText =
  'If you change the login profile, shares with the sign-in method "Users with passwords" no longer list the user. The lists of other shares keep the name.';

/** The fields of an access user. @param isNew the user name can still be chosen */
export function UserFields({ form, isNew }: { form: UseFormReturnType<UserValues>; isNew: boolean }) {
  return (
    <Section title="User" lead={isNew ? 'Shares refer to users by user name.' : 'You cannot change the user name, as shares refer to it.'}>
      <TextInput label="User name" required withAsterisk={false} readOnly={!isNew} {...form.getInputProps('username')} />
      <TextInput label="First name" {...form.getInputProps('firstName')} />
      <TextInput label="Last name" {...form.getInputProps('lastName')} />
      <TextInput label="E-mail" type="email" {...form.getInputProps('email')} />
      <ProfileSelect
        label="Login profile"
        {...(isNew ? {} : { description: moveText })}
        value={form.values.authId || undefined}
        onChange={(id) => id && form.setFieldValue('authId', id)}
        error={form.errors['authId']}
      />
      <Switch label="Active" description="Inactive users cannot sign in." {...form.getInputProps('active', { type: 'checkbox' })} />
    </Section>
  );
}
