import { Button, Group, PasswordInput, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { asProblem, Problem, post } from '#console/api/call.ts';
import { TestPanel } from '#console/components/test-panel.tsx';

interface Props {
  /** Id of the login profile. */
  readonly id: number;
}

const providerSteps = {
  metadata: 'Metadata of the provider',
  keys: 'Keys of the provider',
  certificates: 'Certificates of the provider',
  client: 'Client ID and client authentication',
};

/** Returns a mutation that opens a window in which the operator signs in at the provider and sees the result. */
function useTestWindow(id: number) {
  return useMutation({
    mutationFn: async () => {
      // Opened before the request: browsers block a window that does not open directly after a click.
      const testWindow = window.open('about:blank', '_blank');
      try {
        const { url } = await post('loginprofile/testSignIn', { id });
        if (!testWindow)
          throw new Problem(0, 'windowBlocked', 'Your browser has blocked the window. Allow pop-ups for this page, and try again.');
        testWindow.opener = null; // the provider must not control this page
        testWindow.location.href = url;
      } catch (cause) {
        testWindow?.close();
        throw cause;
      }
    },
  });
}

/** Tests the provider of an OIDC or a SAML profile. */
export function ProviderTest({ id }: Props) {
  const test = useTestWindow(id);
  return (
    <TestPanel id="provider-test" title="Provider test" run={() => post('loginprofile/test', { id })} labels={providerSteps}>
      <Text size="sm" c="dimmed" mt="sm">
        Sign in at the provider yourself to see which information it sends about you, and which user names and groups you can enter in a
        share to give yourself access. This does not sign you in to Postern. The saved settings are tested.
      </Text>
      <Button variant="default" mt="xs" loading={test.isPending} onClick={() => test.mutate()}>
        Sign in to test
      </Button>
      {test.error && (
        <Text c="var(--danger)" role="alert">
          {asProblem(test.error).message}
        </Text>
      )}
    </TestPanel>
  );
}

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
        a name pattern. Nobody is signed in.
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
