import { Alert, TagsInput, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { PrivateKeyInput } from '#console/components/private-key-input.tsx';
import { SecretInput } from '#console/components/secret-input.tsx';
import { useOverview } from '#console/overview/use-overview.ts';
import { hasAccessUsers, profileTypes } from '#core/records/login-profile.ts';
import { LdapFields } from './ldap-fields.tsx';
import { OidcFields } from './oidc-fields.tsx';
import type { ProfileFormReturn as Form } from './profile-form-return.ts';
import { SamlFields } from './saml-fields.tsx';

const Password = ({ form }: { form: Form }) => (
  <>
    <TextInput label="User name" description="Leave empty to ask visitors for the password only." {...form.getInputProps('username')} />
    <SecretInput label="Password" {...form.getInputProps('password')} />
  </>
);

function EmailCode({ form }: { form: Form }) {
  const { data: overview } = useOverview();
  return (
    <>
      {overview?.mail === false && (
        <Alert color="accent">
          No mail server is configured, so visitors cannot get a code yet. Set POSTERN_SMTP_URL and POSTERN_MAIL_FROM.
        </Alert>
      )}
      <TagsInput
        label="Other allowed e-mail addresses"
        description="For people who are not access users of this profile: full addresses, or *@example.com for all addresses of a domain."
        placeholder="*@example.com"
        {...form.getInputProps('allow')}
      />
    </>
  );
}

const Oidc = ({ form }: { form: Form }) => (
  <OidcFields
    form={form}
    secret={
      form.values.clientAuth === 'private_key_jwt' ? (
        <PrivateKeyInput label="Private key" placeholder="-----BEGIN PRIVATE KEY-----" {...form.getInputProps('clientSecret')} />
      ) : (
        <SecretInput label="Client secret" {...form.getInputProps('clientSecret')} />
      )
    }
  />
);

const Ldap = ({ form }: { form: Form }) => (
  <LdapFields form={form} secret={<SecretInput label="Password of the account" {...form.getInputProps('bindPassword')} />} />
);

const byKind: Readonly<Record<number, (props: { form: Form }) => ReactNode>> = {
  [profileTypes.PASSWORD]: Password,
  [profileTypes.EMAIL_CODE]: EmailCode,
  [profileTypes.OIDC]: Oidc,
  [profileTypes.SAML]: SamlFields,
  [profileTypes.LDAP]: Ldap,
};

export function KindFields({ form }: { form: Form }) {
  const Fields = byKind[form.values.typeId];
  return (
    <>
      {Fields && <Fields form={form} />}
      {hasAccessUsers(form.values.typeId) && (
        <Text size="sm" c="dimmed">
          Users are added under Access users, once this login profile exists.
        </Text>
      )}
    </>
  );
}
