import { Checkbox, Group, TagsInput, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ShareValues } from './share-values.ts';

const alerts = [
  ['alertView', 'Views'],
  ['alertDownload', 'Downloads'],
  ['alertUpload', 'Uploads'],
  ['alertCreateFolder', 'New folders'],
  ['alertRename', 'Renames'],
  ['alertDelete', 'Deletions'],
] as const;

/** The recipients of alerts, and the actions that cause one. */
export function AlertFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  return (
    <>
      <TagsInput label="Recipients" placeholder="ann@example.com" {...form.getInputProps('emails')} />
      <Group gap="md">
        {alerts.map(([flag, name]) => (
          <Checkbox key={flag} label={name} {...form.getInputProps(flag, { type: 'checkbox' })} />
        ))}
      </Group>
      <Text size="sm" c="dimmed">
        Postern does not send e-mails yet. Alerts are queued until it does. The audit log already shows all actions.
      </Text>
    </>
  );
}
