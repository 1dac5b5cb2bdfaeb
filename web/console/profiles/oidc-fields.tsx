import { Alert, Select, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { oidcPresets } from './oidc-presets.ts';
import { PresetSelect } from './preset-select.tsx';
import type { ProfileFormReturn } from './profile-form-return.ts';

/** The fields of an OIDC profile. @param secret field for the client secret */
export function OidcFields({ form, secret }: { readonly form: ProfileFormReturn; readonly secret: ReactNode }) {
  const showsPresets = form.values.issuer === '';
  return (
    <>
      {showsPresets && <PresetSelect form={form} label="Provider" presets={oidcPresets} />}
      <TextInput
        label="Issuer"
        description="The provider calls it issuer or authority. Leave out /.well-known/openid-configuration."
        placeholder="https://login.example.com"
        {...form.getInputProps('issuer')}
      />
      <TextInput label="Client ID" {...form.getInputProps('clientId')} />
      {secret}
      <TextInput
        label="Scopes"
        description="The scopes that Postern requests, separated by spaces. With offline_access, Postern asks the provider every ten minutes whether a visitor may stay signed in."
        placeholder="openid email profile"
        {...form.getInputProps('scopes')}
      />
      <TextInput
        label="Groups claim"
        description="Claim with the groups of a user, so that shares can list groups. A path such as realm_access.roles is possible."
        placeholder="groups"
        {...form.getInputProps('groupsClaim')}
      />
      <TextInput
        label="Required group"
        description="Only users in this group can sign in. Leave empty to admit all users of the provider."
        {...form.getInputProps('requireGroup')}
      />
      <TextInput
        label="User name claim"
        description="Shares can list users by the value of this claim, besides the e-mail address. Choose a claim that users cannot change themselves."
        {...form.getInputProps('usernameClaim')}
      />
      <Select
        label="Accepted e-mail addresses"
        description="Shares can list visitors by these addresses."
        data={[
          { value: 'verified', label: 'Only addresses that the provider has verified' },
          { value: 'provider', label: 'Also addresses for which the provider does not say whether they are verified' },
        ]}
        allowDeselect={false}
        {...form.getInputProps('emailTrust')}
      />
      {form.values.emailTrust === 'provider' && (
        <Alert color="accent">Choose this only if users cannot enter another person's address at the provider.</Alert>
      )}
      <Select
        label="At each sign-in"
        data={[
          { value: '', label: 'The provider decides' },
          { value: 'login', label: 'The provider asks for the password again' },
          { value: 'select_account', label: 'The provider lets the visitor choose an account' },
        ]}
        allowDeselect={false}
        {...form.getInputProps('prompt')}
      />
      <Select
        label="How Postern authenticates"
        data={[
          { value: '', label: 'Automatic' },
          { value: 'client_secret_post', label: 'Client secret in the request body (client_secret_post)' },
          { value: 'client_secret_basic', label: 'Client secret in the header (client_secret_basic)' },
          { value: 'private_key_jwt', label: 'Private key in place of the client secret (private_key_jwt)' },
          { value: 'none', label: 'No client secret: a public client (none)' },
        ]}
        allowDeselect={false}
        {...form.getInputProps('clientAuth')}
      />
    </>
  );
}
