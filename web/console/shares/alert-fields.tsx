import { Checkbox, Group, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { EmailTags, emailError } from '#console/components/email-tags.tsx';
import { useOverview } from '#console/overview/use-overview.ts';
import type { ShareValues } from './share-values.ts';

const alerts = [
  ['alertView', 'Views'],
  ['alertDownload', 'Downloads'],
  ['alertUpload', 'Uploads'],
  ['alertCreateFolder', 'New folders'],
  ['alertRename', 'Renames'],
  ['alertDelete', 'Deletions'],
] as const;

export function AlertFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const { data: overview } = useOverview();
  return (
    <>
      <EmailTags
        label="Notification list"
        profile={null}
        {...form.getInputProps('emails')}
        error={form.errors['emails'] ?? emailError(form.values.emails)}
      />
      <Group gap="md">
        {alerts.map(([flag, name]) => (
          <Checkbox key={flag} label={name} {...form.getInputProps(flag, { type: 'checkbox' })} />
        ))}
      </Group>
      <Text size="sm" c="dimmed">
        {overview?.mail === false
          ? 'No mail server is configured. Alerts wait until there is one, but are deleted after three days. The audit log shows all actions.'
          : 'The actions of a visitor are collected for a minute, and sent in one e-mail. While the visitor continues, further e-mails follow after 5 minutes, after another 15 minutes, and then every hour. The audit log shows each action immediately.'}
      </Text>
    </>
  );
}
