import { Alert, FileInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { post } from '#console/api/call.ts';
import { base64Of } from '#console/components/base64.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { formats } from '#console/components/format.ts';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import type { AuditEntry } from '#core/records/audit-entry.ts';
import type { ResponseOf } from '#features/operation-types.ts';
import { actionLabel } from './action-labels.ts';

type Traced = ResponseOf<'audit/trace'>;

interface TraceValues extends Record<string, unknown> {
  readonly file: File | null;
}

/** Finds out who has got a leaked file. */
export function TraceDialog({ close }: { close: () => void }) {
  const [traced, setTraced] = useState<Traced | null>(null);
  const initial: TraceValues = { file: null };
  const smallForm = useSmallForm(initial, async ({ file }) => {
    setTraced(null);
    if (file) setTraced(await post('audit/trace', { file: await base64Of(file) }));
  });
  const { form } = smallForm;
  return (
    <Dialog onClose={close} title="Trace a leaked file">
      <SmallFormFields smallForm={smallForm} saveLabel="Trace" cancel={close}>
        <FileInput
          label="File"
          description="The leaked PDF or image, or a screenshot, a scan or a photograph of one of its pages. At most 12 MiB."
          placeholder="Choose a file"
          accept=".pdf,.jpg,.jpeg,.png,.webp"
          required
          {...form.getInputProps('file')}
        />
        <div role="status">
          {form.submitting ? <Text>Searching the pages. This can take half a minute.</Text> : traced && <Result {...traced} />}
        </div>
      </SmallFormFields>
    </Dialog>
  );
}

function Result({ found, agreement, entries }: Traced) {
  if (!found)
    return (
      <Alert color="yellow" title="No trace mark found">
        Only files of shares with copy protection or a watermark contain one. Try a sharper picture, taken straight from the front, with as
        much of the page as possible.
      </Alert>
    );
  if (entries.length === 0)
    return (
      <Alert color="yellow" title="A trace mark was found, but not its download">
        The audit log no longer contains the download, the file comes from another tenant or another Postern, or the mark was read wrongly.
      </Alert>
    );
  return (
    <Stack gap="xs">
      <Text fw={600}>{entries.length === 1 ? 'The file went to' : 'The file went to a visitor with these entries'}</Text>
      {entries.map((entry) => (
        <Got key={entry.id} entry={entry} />
      ))}
      <Text size="sm" c="dimmed">
        {Math.round(100 * (agreement ?? 0))} percent of the trace mark match the number of the download.
      </Text>
    </Stack>
  );
}

function Got({ entry: { actor, address, action, path, shareTitle, dateTime } }: { entry: AuditEntry }) {
  return (
    <Text component="div">
      {actor || 'Anonymous'} from {address}
      <Text component="div" size="sm" c="dimmed">
        {actionLabel(action)}: {path} in {shareTitle}, {formats.exact(dateTime)}
      </Text>
    </Text>
  );
}
