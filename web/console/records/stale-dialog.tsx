import { Button, Group, List, Text } from '@mantine/core';
import { Dialog } from './dialog.tsx';

interface Props {
  readonly opened: boolean;
  /** Names of the fields that another has changed meanwhile. */
  readonly fields: readonly string[];
  readonly who: string;
  readonly takeTheirs: () => void;
  readonly keepBoth: () => void;
  readonly close: () => void;
}

/** Two operators have edited the same record: whose words stand is the second one's to decide. */
export function StaleDialog({ opened, fields, who, takeTheirs, keepBoth, close }: Props) {
  if (!opened) return null;
  return (
    <Dialog onClose={close} title={`${who || 'Somebody else'} has changed this meanwhile`}>
      <Text>{fields.length > 0 ? 'Different from what you began with:' : 'What you began with is no longer the newest.'}</Text>
      <List my="sm">
        {fields.map((field) => (
          <List.Item key={field}>{field}</List.Item>
        ))}
      </List>
      <Text size="sm" c="dimmed" mb="md">
        Nothing is saved yet. With both, yours stand where you have changed the same.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={takeTheirs}>
          Drop mine
        </Button>
        <Button onClick={keepBoth}>Put mine on top of theirs</Button>
      </Group>
    </Dialog>
  );
}
