import { Button, Group, List, Text } from '@mantine/core';
import { Dialog } from './dialog.tsx';

interface Props {
  readonly opened: boolean;
  /** Labels of the fields whose values differ between the opened and the newer version. */
  readonly fields: readonly string[];
  /** Name of the operator or API key that has saved the newer version; empty: unknown. */
  readonly who: string;
  readonly discardMine: () => void;
  readonly keepBoth: () => void;
  readonly close: () => void;
}

/** Shown if a save fails because the record has a newer version. The operator discards their changes, merges them, or closes it. */
export function ConflictDialog({ opened, fields, who, discardMine, keepBoth, close }: Props) {
  if (!opened) return null;
  return (
    <Dialog onClose={close} title={`${who || 'Someone else'} changed this record after you opened it`}>
      <Text>{fields.length > 0 ? 'These fields have new values:' : 'The record has a newer version.'}</Text>
      <List my="sm">
        {fields.map((field) => (
          <List.Item key={field}>{field}</List.Item>
        ))}
      </List>
      <Text size="sm" c="dimmed" mb="md">
        Your changes are not saved yet. “Keep both changes” adds the new values to your form; where both of you changed the same field, it
        keeps your value. Then save the form.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={discardMine}>
          Discard my changes
        </Button>
        <Button onClick={keepBoth}>Keep both changes</Button>
      </Group>
    </Dialog>
  );
}
