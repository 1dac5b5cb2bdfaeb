import { Alert, Button, Group, Text } from '@mantine/core';
import { asProblem } from '#console/api/call.ts';

/** Shown when a page, a record or a list could not be loaded, with a button to try again. */
export function LoadError({ error, reset }: { error: unknown; reset: () => void }) {
  const { message, status } = asProblem(error);
  const title = status === 404 ? 'This record does not exist' : 'This page could not be loaded';
  return (
    <Alert className="failed" color="red" title={<h1>{title}</h1>} role="alert">
      <title>{`${title} · Postern`}</title>
      <Text size="sm">{status === 404 ? 'It may have been deleted. Go back to the list.' : message}</Text>
      <Group mt="sm">
        <Button variant="default" onClick={reset}>
          Try again
        </Button>
      </Group>
    </Alert>
  );
}
