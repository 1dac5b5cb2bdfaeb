import { Checkbox, Group, TagsInput, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ShareValues } from './share-values.ts';

const alerts = [
  ['alertView', 'Looks'],
  ['alertDownload', 'Downloads'],
  ['alertUpload', 'Uploads'],
  ['alertCreateFolder', 'New folders'],
  ['alertRename', 'Renames'],
  ['alertDelete', 'Deletes'],
] as const;

/** Who is told of what. */
export function AlertFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  return (
    <>
      <TagsInput label="Tell" placeholder="ann@example.com" {...form.getInputProps('emails')} />
      <Group gap="md">
        {alerts.map(([flag, name]) => (
          <Checkbox key={flag} label={name} {...form.getInputProps(flag, { type: 'checkbox' })} />
        ))}
      </Group>
      <Text size="sm" c="dimmed">
        E-mails wait until their sending is built; what happened is under Activity at once.
      </Text>
    </>
  );
}
