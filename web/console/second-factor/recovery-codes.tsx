import { Alert, Button, Code, CopyButton, Group, SimpleGrid, Stack } from '@mantine/core';
import { Check, Copy } from 'lucide-react';

/** Shows new recovery codes, once. */
export function RecoveryCodes({ codes, done }: { codes: readonly string[]; done: () => void }) {
  return (
    <Stack>
      <Alert title="Save these recovery codes now" color="accent">
        They are not shown again. You can use each code once instead of your second factor, for example if you have lost your phone.
      </Alert>
      <section aria-label="Recovery codes">
        <SimpleGrid cols={2} spacing="xs">
          {codes.map((code) => (
            <Code key={code} fz="md" ta="center">
              {code}
            </Code>
          ))}
        </SimpleGrid>
      </section>
      <Group justify="flex-end">
        <CopyButton value={codes.join('\n')} timeout={2500}>
          {({ copied, copy }) => (
            <Button
              variant="default"
              onClick={copy}
              leftSection={copied ? <Check size={18} aria-hidden /> : <Copy size={18} aria-hidden />}
            >
              {copied ? 'Copied' : 'Copy codes'}
            </Button>
          )}
        </CopyButton>
        <Button onClick={done}>I have saved them</Button>
      </Group>
    </Stack>
  );
}
