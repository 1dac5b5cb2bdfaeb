import { TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { SecretInput } from '#console/components/secret-input.tsx';
import type { LocationValues } from './location-values.ts';

export const WebdavFields = ({ form }: { readonly form: UseFormReturnType<LocationValues> }) => (
  <>
    <TextInput
      label="Address of the server"
      description="Include the path at which the server offers WebDAV. For a server in a private network, the setting POSTERN_PRIVATE_TARGETS must include its address."
      placeholder="https://cloud.example.com/remote.php/dav/files/postern"
      required
      withAsterisk={false}
      {...form.getInputProps('url')}
    />
    <TextInput
      label="Folder"
      description="The root of the location. Leave empty to use the folder at the address."
      placeholder="reports/2026"
      {...form.getInputProps('root')}
    />
    <TextInput label="User name" autoComplete="off" {...form.getInputProps('username')} />
    <SecretInput label="Password" {...form.getInputProps('password')} />
    <SecretInput label="Bearer token" placeholder="Instead of a user name and a password" {...form.getInputProps('bearerToken')} />
  </>
);
