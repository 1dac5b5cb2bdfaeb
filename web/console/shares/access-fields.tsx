import { Anchor, Group, Radio, Switch, TagsInput, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { get } from '#console/api/call.ts';
import { ProfileSelect } from '#console/profiles/profile-select.tsx';
import { hasAccessUsers, profileTypes } from '#core/records/login-profile.ts';
import { LinkPasswordField } from './link-password-field.tsx';
import { profileQuery } from './share-queries.ts';
import { hasVisitorGroups, hasVisitorNames, type ShareValues } from './share-values.ts';

const maxOptions = 20;

interface NamesProperties {
  readonly form: UseFormReturnType<ShareValues>;
  readonly profile: number;
  readonly typeId: number;
}

/** The placeholder of the field, by the type of the login profile. It says by which names a share can list visitors. */
const namePlaceholders: Readonly<Record<number, string>> = {
  [profileTypes.EMAIL_CODE]: 'Type an e-mail address or a user name',
  [profileTypes.OIDC]: 'Type an e-mail address or a value of the user name claim',
  [profileTypes.SAML]: 'Type a NameID, a value of the user name attribute or an e-mail address',
  [profileTypes.LDAP]: 'Type a user name or an e-mail address',
};

/** A field for the names of visitors. It suggests access users of the login profile that match the input. */
function NamesField({ form, profile, typeId }: NamesProperties) {
  const [word, setWord] = useState('');
  const [debouncedWord] = useDebouncedValue(word, 150);
  const { data: options = [] } = useQuery({
    queryKey: ['user', 'names', profile, debouncedWord],
    queryFn: async ({ signal }) => {
      const query = { authId: profile, searchWord: debouncedWord, pageSize: maxOptions, sortField: 'username' };
      return (await get('accessuser/search', query, signal)).list.map(({ username }) => username);
    },
    enabled: hasAccessUsers(typeId),
    placeholderData: keepPreviousData,
  });
  return (
    <TagsInput
      label="Users"
      placeholder={namePlaceholders[typeId] ?? 'Type a user name'}
      data={options}
      filter={({ options }) => options} // the server has filtered the options; its search also matches other fields
      searchValue={word}
      onSearchChange={setWord}
      clearable
      {...form.getInputProps('users')}
    />
  );
}

/** Properties of the field for groups of a directory. The field does not split the input at commas, because a DN contains commas. */
const directoryGroups = {
  description: 'Names of groups of the directory, or complete DNs without quotes. Press Enter after each one.',
  splitChars: [],
};

/** The login profile, and which of its users have access. */
function ProfileFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const { authenticationId, allowAllUsers } = form.values;
  const { data: loginProfile } = useQuery(profileQuery(authenticationId));
  const typeId = loginProfile?.typeId;
  return (
    <>
      <ProfileSelect
        label="Login profile"
        description="How visitors sign in, and from which IP addresses."
        withKind
        value={authenticationId || undefined}
        onChange={(id) => id && form.setValues({ authenticationId: id, allowAllUsers: true, users: [], groups: [] })}
        error={form.errors['authenticationId']}
      />
      {typeId === profileTypes.PUBLIC && (
        <Text size="sm" c="dimmed">
          Visitors do not sign in.{allowAllUsers && ' Anyone with the link has access.'}
        </Text>
      )}
      {typeId !== undefined && !hasVisitorNames(typeId) && !allowAllUsers && (
        <Switch label="Give access to all visitors" {...form.getInputProps('allowAllUsers', { type: 'checkbox' })} />
      )}
      {typeId !== undefined && hasVisitorNames(typeId) && (
        <>
          <Switch
            label={`Everyone who signs in with ${loginProfile?.title ?? 'it'}`}
            {...form.getInputProps('allowAllUsers', { type: 'checkbox' })}
          />
          {!allowAllUsers && <NamesField form={form} profile={authenticationId} typeId={typeId} />}
          {!allowAllUsers && hasVisitorGroups(typeId) && (
            <TagsInput
              label="Groups"
              {...(typeId === profileTypes.LDAP ? directoryGroups : { description: 'Group names of the identity provider.' })}
              {...form.getInputProps('groups')}
            />
          )}
          {typeId === profileTypes.USERS && (
            <Anchor component={Link} to={`/users?profile=${authenticationId}`} size="sm">
              Show users of this login profile
            </Anchor>
          )}
        </>
      )}
    </>
  );
}

/** Who can open the link: visitors of a login profile, or those with a password for this link. */
export function AccessFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const { ownPassword } = form.values;
  return (
    <>
      <Radio.Group
        aria-label="How visitors sign in"
        value={ownPassword ? 'password' : 'profile'}
        onChange={(choice) => form.setValues({ ownPassword: choice === 'password', linkPassword: '' })}
      >
        <Group gap="lg">
          <Radio value="profile" label="Sign in with a login profile" />
          <Radio value="password" label="Sign in with a password for this link" />
        </Group>
      </Radio.Group>
      {ownPassword ? <LinkPasswordField form={form} /> : <ProfileFields form={form} />}
    </>
  );
}
