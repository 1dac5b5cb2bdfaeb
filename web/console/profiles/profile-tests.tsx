import { Group, PasswordInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { post } from '#console/api/call.ts';
import { TestPanel } from '#console/components/test-panel.tsx';

interface Props {
  /** Login profile. */
  readonly id: number;
}

const providerSteps = {
  metadata: 'Metadata of the provider',
  keys: 'Keys of the provider',
  certificates: 'Certificates of the provider',
  client: 'Client ID and client secret',
};

/** Tests the provider of an OIDC or a SAML profile. */
export const ProviderTest = ({ id }: Props) => (
  <TestPanel id="provider-test" title="Provider test" run={() => post('loginprofile/test', { id })} labels={providerSteps} />
);

const directorySteps = { connection: 'Connection', account: 'Account', user: 'User', password: 'Password' };

/** Tests the directory of an LDAP profile, and shows by which names shares can list a user. */
export function DirectoryTest({ id }: Props) {
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  return (
    <TestPanel
      id="directory-test"
      title="Directory test"
      run={() => post('loginprofile/test', { id, username, password })}
      labels={directorySteps}
    >
      <Text size="sm" c="dimmed" mt="sm">
        With a user name, the test shows by which names and groups shares can list the user. The password is needed only for a profile with
        a pattern. Nobody is signed in.
      </Text>
      <Group align="end" mt="xs">
        <TextInput label="User to test" autoComplete="off" value={username} onChange={(event) => setUsername(event.currentTarget.value)} />
        <PasswordInput
          label="Password of the user"
          autoComplete="off"
          w="15rem"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
      </Group>
    </TestPanel>
  );
}
