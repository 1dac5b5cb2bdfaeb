import { Alert, Button, Divider, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { signInMethodsQuery } from '#console/api/session.ts';

const reasons: Readonly<Record<string, string>> = {
  providerRefused: 'The provider did not accept this sign-in, or your account has no access to this console.',
  providerAway: 'The provider is not available. Try again in a moment, or sign in with your password.',
  tooManyFailures: 'Too many failed attempts. Wait a moment and try again.',
};

/** Returns why a sign-in at the provider has failed, from the fragment of the URL. An empty string: none has failed. */
function failureText(): string {
  const [, code = '', reference = ''] = /^#sign-in=(\w+)\.([\w-]+)$/.exec(window.location.hash) ?? [];
  if (code === '') return '';
  const reason = reasons[code] ?? 'The sign-in could not be completed. Sign in again.';
  return `${reason} Reference: ${reference}`;
}

/** The button to sign in at the provider, if there is one. @param opensTab true: in another tab, so that the input on this page stays */
export function ProviderButton({ opensTab = false }: { opensTab?: boolean }) {
  const { data } = useQuery(signInMethodsQuery);
  const failure = failureText();
  if (!data?.provider) return null;
  return (
    <Stack>
      {failure && (
        <Alert color="red" role="alert">
          {failure}
        </Alert>
      )}
      <Button
        component="a"
        href="/api/v1/operator/signIn/start"
        variant="default"
        size="md"
        {...(opensTab ? { target: '_blank', rel: 'opener' } : {})}
      >
        Continue with {data.provider}
      </Button>
      <Divider label="or with your password" />
    </Stack>
  );
}
