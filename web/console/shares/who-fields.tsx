import { Anchor, Group, Radio, Switch, TagsInput, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { get, type Page } from '#console/api/call.ts';
import { ProfileSelect } from '#console/profiles/profile-select.tsx';
import type { AccessUser } from '#core/records/access-user.ts';
import { hasAccessUsers, isProfileTypeAvailable, profileTypes } from '#core/records/login-profile.ts';
import { LinkPasswordField } from './link-password-field.tsx';
import { profileQuery } from './share-queries.ts';
import { hasGroups, hasNames, type ShareValues } from './share-values.ts';

const maxOptions = 20;

/** Names of people of a login profile that hold what is typed. */
function NamesField({ form, profile, complete }: { form: UseFormReturnType<ShareValues>; profile: number; complete: boolean }) {
  const [word, setWord] = useState('');
  const [debouncedWord] = useDebouncedValue(word, 150);
  const { data: options = [] } = useQuery({
    queryKey: ['person', 'names', profile, debouncedWord],
    queryFn: async ({ signal }) => {
      const query = { authId: profile, searchWord: debouncedWord, pageSize: maxOptions, sortField: 'username' };
      return (await get<Page<AccessUser>>('accessuser/search', query, signal)).list.map(({ username }) => username);
    },
    enabled: complete,
    placeholderData: keepPreviousData,
  });
  return (
    <TagsInput
      label="People"
      placeholder="Begin to type a name"
      data={options}
      filter={({ options }) => options} // the server has found them by more than their name
      searchValue={word}
      onSearchChange={setWord}
      clearable
      {...form.getInputProps('users')}
    />
  );
}

/** Chooses the login profile, and all of its people or some. */
function ProfileFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const { authenticationId, allowAllUsers } = form.values;
  const { data: loginProfile } = useQuery(profileQuery(authenticationId));
  const typeId = loginProfile?.typeId;
  return (
    <>
      <ProfileSelect
        label="Login profile"
        description="How visitors sign in, and from which addresses."
        withKind
        value={authenticationId || undefined}
        onChange={(id) => id && form.setValues({ authenticationId: id, allowAllUsers: true, users: [], groups: [] })}
        error={form.errors['authenticationId']}
      />
      {typeId !== undefined && !isProfileTypeAvailable(typeId) && (
        <Text size="sm" c="dimmed">
          Sign-in of this kind is not available yet: until then the link answers that it is not available.
        </Text>
      )}
      {typeId === profileTypes.PUBLIC && (
        <Text size="sm" c="dimmed">
          Nobody signs in: whoever has the link comes in.
        </Text>
      )}
      {typeId !== undefined && !hasNames(typeId) && !allowAllUsers && (
        <Switch label="Admit them" {...form.getInputProps('allowAllUsers', { type: 'checkbox' })} />
      )}
      {hasNames(typeId) && (
        <>
          <Switch
            label={`Everyone who signs in by ${loginProfile?.title ?? 'it'}`}
            {...form.getInputProps('allowAllUsers', { type: 'checkbox' })}
          />
          {!allowAllUsers && (
            <NamesField form={form} profile={authenticationId} complete={typeId !== undefined && hasAccessUsers(typeId)} />
          )}
          {!allowAllUsers && hasGroups(typeId) && (
            <TagsInput label="Groups" description="As the identity provider names them." {...form.getInputProps('groups')} />
          )}
          {typeId === profileTypes.USERS && (
            <Anchor component={Link} to={`/people?profile=${authenticationId}`} size="sm">
              People of this login profile
            </Anchor>
          )}
        </>
      )}
    </>
  );
}

/** Who may come in: by a login profile, or by a password that is for this link alone. */
export function AccessFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const { ownPassword } = form.values;
  return (
    <>
      <Radio.Group
        aria-label="How visitors sign in"
        value={ownPassword ? 'password' : 'profile'}
        onChange={(way) => form.setValues({ ownPassword: way === 'password', linkPassword: '' })}
      >
        <Group gap="lg">
          <Radio value="profile" label="By a login profile" />
          <Radio value="password" label="By a password for this link" />
        </Group>
      </Radio.Group>
      {ownPassword ? <LinkPasswordField form={form} /> : <ProfileFields form={form} />}
    </>
  );
}
