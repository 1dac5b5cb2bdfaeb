import { Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { Choice } from './choice.tsx';
import { ldapPresets } from './ldap-presets.ts';
import { PresetSelect } from './preset-select.tsx';
import type { ProfileFormReturn } from './profile-form-return.ts';

interface Props {
  readonly form: ProfileFormReturn;
}

const Connection = ({ form }: Props) => (
  <>
    <TextInput label="Server URL" placeholder="ldaps://directory.example.com" {...form.getInputProps('url')} />
    <Checkbox
      label="Encrypt the connection with StartTLS"
      description="For an address that begins with ldap://. A connection to an ldaps:// address is always encrypted."
      {...form.getInputProps('startTls', { type: 'checkbox' })}
    />
    <Textarea
      label="Certificates (PEM)"
      description="Needed only if the certificate of the directory is not issued by a public authority."
      autosize
      minRows={2}
      maxRows={12}
      {...form.getInputProps('ca')}
    />
    <TextInput
      label="Base DN"
      description="Base of the searches for users and groups."
      placeholder="dc=example,dc=com"
      {...form.getInputProps('baseDn')}
    />
  </>
);

const Users = ({ form, secret }: Props & { readonly secret: ReactNode }) => (
  <>
    <Choice
      label="How to find users"
      data={[
        { value: 'search', label: 'With a search account' },
        { value: 'pattern', label: 'With a name pattern' },
      ]}
      {...form.getInputProps('ldapLookup')}
    />
    {form.values.ldapLookup === 'search' ? (
      <>
        <TextInput
          label="DN of the account"
          description="An account that may read users and groups, and nothing else."
          placeholder="cn=postern,dc=example,dc=com"
          {...form.getInputProps('bindDn')}
        />
        {secret}
        <TextInput
          label="User filter"
          description="Must match exactly one entry. {username} stands for what the visitor enters."
          placeholder="(uid={username})"
          {...form.getInputProps('userFilter')}
        />
      </>
    ) : (
      <TextInput
        label="Pattern"
        description="DN or name with which users sign in at the directory. Without a search account, sessions end after one hour."
        placeholder="uid={username},ou=people,dc=example,dc=com"
        {...form.getInputProps('bindPattern')}
      />
    )}
  </>
);

const Attributes = ({ form }: Props) => (
  <>
    <TextInput
      label="User name attribute"
      description="Shares list users by the value of this attribute. Default: sAMAccountName, or else uid."
      {...form.getInputProps('usernameAttribute')}
    />
    <TextInput
      label="E-mail attribute"
      description="Usually mail. Shares can list users by this e-mail address, too. Choose an attribute that users cannot change themselves. Default: none."
      {...form.getInputProps('emailAttribute')}
    />
    <TextInput label="Display name attribute" description="Default: displayName, or else cn." {...form.getInputProps('nameAttribute')} />
  </>
);

const Groups = ({ form }: Props) => (
  <>
    <Select
      label="Groups of a user"
      data={[
        { value: 'memberOf', label: 'From the attribute memberOf' },
        { value: 'search', label: 'By a search' },
      ]}
      allowDeselect={false}
      {...form.getInputProps('groupsFrom')}
    />
    {form.values.groupsFrom === 'search' && (
      <TextInput
        label="Group filter"
        description="{dn} stands for the DN of the user, {username} for what the visitor enters."
        placeholder="(member={dn})"
        {...form.getInputProps('groupFilter')}
      />
    )}
    <Checkbox label="Include groups of groups" {...form.getInputProps('nestedGroups', { type: 'checkbox' })} />
    <TextInput
      label="Required group"
      description="Only users in this group can sign in. Leave empty to admit all users that are found."
      {...form.getInputProps('requireGroup')}
    />
  </>
);

/** The fields of an LDAP profile. @param secret field for the password of the account */
export function LdapFields({ form, secret }: Props & { readonly secret: ReactNode }) {
  const showsPresets = form.values.url === '';
  return (
    <>
      {showsPresets && <PresetSelect form={form} label="Directory" presets={ldapPresets} />}
      <Connection form={form} />
      <Users form={form} secret={secret} />
      <Attributes form={form} />
      <Groups form={form} />
    </>
  );
}
