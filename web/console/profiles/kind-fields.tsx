import { Alert, Checkbox, PasswordInput, SegmentedControl, TagsInput, Text, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { isProfileTypeAvailable, profileTypes, secretMask } from '#core/records/login-profile.ts';
import type { ProfileValues } from './profile-values.ts';

type Form = UseFormReturnType<ProfileValues>;

/** A secret that is kept is shown as dots only: typing replaces it, leaving it keeps it. */
function Secret({ form, name, label }: { form: Form; name: 'password' | 'clientSecret' | 'bindPassword'; label: string }) {
  const isStored = form.values[name] === secretMask;
  return (
    <PasswordInput
      label={label}
      autoComplete="off"
      description={isStored ? 'One is kept; type another to replace it.' : undefined}
      {...form.getInputProps(name)}
      onFocus={({ currentTarget }) => isStored && currentTarget.select()}
    />
  );
}

const Password = ({ form }: { form: Form }) => (
  <>
    <TextInput label="User name" description="Empty: visitors are asked for the password alone." {...form.getInputProps('username')} />
    <Secret form={form} name="password" label="Password" />
  </>
);

const EmailCode = ({ form }: { form: Form }) => (
  <TagsInput
    label="Admitted addresses"
    description="Whole addresses, or *@example.com for all of a domain."
    placeholder="*@example.com"
    {...form.getInputProps('allow')}
  />
);

const Oidc = ({ form }: { form: Form }) => (
  <>
    <TextInput label="Issuer" placeholder="https://login.example.com" {...form.getInputProps('issuer')} />
    <TextInput label="Client id" {...form.getInputProps('clientId')} />
    <Secret form={form} name="clientSecret" label="Client secret" />
    <TextInput label="Scopes" placeholder="openid profile email" {...form.getInputProps('scopes')} />
    <TextInput label="Claim that lists groups" {...form.getInputProps('groupsClaim')} />
  </>
);

const Saml = ({ form }: { form: Form }) => (
  <>
    <SegmentedControl
      aria-label="How the provider is known"
      data={[
        { value: 'metadata', label: 'By its metadata' },
        { value: 'hand', label: 'By hand' },
      ]}
      {...form.getInputProps('samlBy')}
    />
    {form.values.samlBy === 'metadata' ? (
      <TextInput label="Address of the metadata" placeholder="https://login.example.com/metadata" {...form.getInputProps('metadataUrl')} />
    ) : (
      <>
        <TextInput label="Address of sign-in" {...form.getInputProps('entryPoint')} />
        <Textarea label="Certificates (PEM)" autosize minRows={4} maxRows={12} {...form.getInputProps('certificates')} />
      </>
    )}
    <TextInput label="Attribute that lists groups" {...form.getInputProps('groupsAttribute')} />
    <Checkbox label="Sign-in may begin at the provider" {...form.getInputProps('idpInitiated', { type: 'checkbox' })} />
  </>
);

const Ldap = ({ form }: { form: Form }) => (
  <>
    <TextInput label="Address" placeholder="ldaps://directory.example.com" {...form.getInputProps('url')} />
    <Checkbox label="Ask for TLS on an ldap:// address" {...form.getInputProps('startTls', { type: 'checkbox' })} />
    <TextInput label="Where users are looked for" placeholder="ou=people,dc=example,dc=com" {...form.getInputProps('baseDn')} />
    <TextInput label="Who looks for them" placeholder="cn=postern,dc=example,dc=com" {...form.getInputProps('bindDn')} />
    <Secret form={form} name="bindPassword" label="Their password" />
    <TextInput label="Filter that finds a user" placeholder="(uid={username})" {...form.getInputProps('userFilter')} />
    <TextInput label="Filter that finds a user's groups" {...form.getInputProps('groupFilter')} />
  </>
);

const byKind: Readonly<Record<number, (props: { form: Form }) => ReactNode>> = {
  [profileTypes.PASSWORD]: Password,
  [profileTypes.EMAIL_CODE]: EmailCode,
  [profileTypes.OIDC]: Oidc,
  [profileTypes.SAML]: Saml,
  [profileTypes.LDAP]: Ldap,
};

/** What the chosen kind of sign-in is configured by. */
export function KindFields({ form }: { form: Form }) {
  const Fields = byKind[form.values.typeId];
  return (
    <>
      {Fields && <Fields form={form} />}
      {form.values.typeId === profileTypes.USERS && (
        <Text size="sm" c="dimmed">
          Add them under People, once this profile is there.
        </Text>
      )}
      {!isProfileTypeAvailable(form.values.typeId) && (
        <Alert color="accent">This kind can be set up; signing in by it is not available yet, and its links say so until then.</Alert>
      )}
    </>
  );
}
