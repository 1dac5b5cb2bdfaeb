import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { signInMethodsQuery } from '#console/api/session.ts';
import { Section } from '#console/components/section.tsx';
import { useCaller } from '#console/shell/caller.ts';

/** Links the account of the signed-in operator to a user of the provider, if there is a provider. */
export function ProviderSection() {
  const { byProvider, signsInAtProvider } = useCaller();
  const { data } = useQuery(signInMethodsQuery);
  if (!data?.provider) return null;
  return (
    <Section title="Identity provider" lead={`You can sign in at ${data.provider} instead of with your password.`}>
      {byProvider ? (
        <Text>You have signed in at {data.provider}. Your password and second factor, if any, are managed there.</Text>
      ) : (
        <Group>
          {signsInAtProvider && <Text>Your account is connected with a user of {data.provider}.</Text>}
          <Button component="a" href="/api/v1/operator/linkProvider" variant="default">
            {signsInAtProvider ? 'Connect with another user' : `Connect with ${data.provider}`}
          </Button>
        </Group>
      )}
    </Section>
  );
}
