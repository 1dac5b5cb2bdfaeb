import { Button, Group, List, Modal, Text } from '@mantine/core';

interface Props {
  readonly opened: boolean;
  /** Names of the fields that another has changed meanwhile. */
  readonly fields: readonly string[];
  readonly who: string;
  readonly takeTheirs: () => void;
  readonly saveMine: () => void;
  readonly close: () => void;
}

/** Two operators have edited the same record: whose words stand is the second one's to decide. */
export function StaleDialog({ opened, fields, who, takeTheirs, saveMine, close }: Props) {
  return (
    <Modal opened={opened} onClose={close} title={`${who || 'Somebody else'} has changed this meanwhile`} centered>
      <Text>{fields.length > 0 ? 'Different from what you began with:' : 'What you began with is no longer the newest.'}</Text>
      <List my="sm">
        {fields.map((field) => (
          <List.Item key={field}>{field}</List.Item>
        ))}
      </List>
      <Group justify="flex-end">
        <Button variant="default" onClick={takeTheirs}>
          Show theirs, drop mine
        </Button>
        <Button onClick={saveMine}>Save mine over it</Button>
      </Group>
    </Modal>
  );
}
