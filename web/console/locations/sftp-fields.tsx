import { NumberInput, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { PrivateKeyInput } from '#console/components/private-key-input.tsx';
import { SecretInput } from '#console/components/secret-input.tsx';
import type { LocationValues } from './location-values.ts';

export const SftpFields = ({ form }: { readonly form: UseFormReturnType<LocationValues> }) => (
  <>
    <TextInput
      label="Server"
      description="For a server in a private network, the setting POSTERN_PRIVATE_TARGETS must include its address."
      placeholder="sftp.example.com"
      required
      withAsterisk={false}
      {...form.getInputProps('host')}
    />
    <NumberInput label="Port" placeholder="22" min={1} max={65_535} allowDecimal={false} {...form.getInputProps('port')} />
    <Textarea
      label="Host key"
      description="Public key of the server, as in its file /etc/ssh/ssh_host_ed25519_key.pub. Postern does not connect to a server with another key."
      placeholder="ssh-ed25519 AAAA…"
      autosize
      minRows={2}
      required
      withAsterisk={false}
      {...form.getInputProps('hostKey')}
    />
    <TextInput
      label="Folder"
      description="Absolute path at the server. It is the root of the location."
      placeholder="/srv/files"
      required
      withAsterisk={false}
      {...form.getInputProps('root')}
    />
    <TextInput label="User name" autoComplete="off" required withAsterisk={false} {...form.getInputProps('username')} />
    <SecretInput label="Password" {...form.getInputProps('password')} />
    <PrivateKeyInput
      label="Private key, instead of a password"
      placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
      {...form.getInputProps('privateKey')}
    />
    <SecretInput label="Passphrase" placeholder="Of an encrypted private key" {...form.getInputProps('passphrase')} />
  </>
);
