import { Checkbox, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { SecretInput } from '#console/components/secret-input.tsx';
import type { LocationValues } from './location-values.ts';

export const AzureFields = ({ form }: { readonly form: UseFormReturnType<LocationValues> }) => (
  <>
    <TextInput label="Container" placeholder="reports" required withAsterisk={false} {...form.getInputProps('container')} />
    <TextInput label="Storage account" placeholder="acme" {...form.getInputProps('account')} />
    <TextInput
      label="Address of the account"
      description="Leave empty for the public cloud of Azure. For an address in a private network, the setting POSTERN_PRIVATE_TARGETS must include it."
      placeholder="https://acme.blob.core.windows.net"
      {...form.getInputProps('endpoint')}
    />
    <TextInput
      label="Folder in the container"
      description="The root of the location. Leave empty to use the entire container."
      placeholder="reports/2026"
      {...form.getInputProps('prefix')}
    />
    <Checkbox
      label="Hierarchical namespace"
      description="For an account with real folders (Data Lake Storage)."
      {...form.getInputProps('hierarchicalNamespace', { type: 'checkbox' })}
    />
    <Checkbox
      label="Use the managed identity of this machine"
      description="Instead of a key, on a machine in Azure. POSTERN_MACHINE_CREDENTIALS on the server must list your tenant to allow this."
      {...form.getInputProps('useMachineCredentials', { type: 'checkbox' })}
    />
    {!form.values.useMachineCredentials && (
      <>
        <SecretInput label="Account key" {...form.getInputProps('accountKey')} />
        <SecretInput label="SAS token" placeholder="Instead of the account key" {...form.getInputProps('sasToken')} />
      </>
    )}
  </>
);
