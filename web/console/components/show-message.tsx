import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { asProblem } from '#console/api/call.ts';

interface Message {
  readonly text: string;
  readonly failed?: boolean;
  readonly undo?: () => Promise<unknown>;
}

/** Shows at the bottom of the page what has happened, with an undo button if the action can be undone. */
export function showMessage({ text, failed = false, undo }: Message): void {
  const id = notifications.show({
    color: failed ? 'red' : 'accent',
    withCloseButton: true,
    closeButtonProps: { 'aria-label': 'Close' },
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{text}</Text>
        {undo && (
          <Button size="compact-sm" variant="subtle" onClick={() => void runUndo(id, undo)}>
            Undo
          </Button>
        )}
      </Group>
    ),
  });
}

async function runUndo(id: string, undo: () => Promise<unknown>): Promise<void> {
  notifications.hide(id);
  try {
    await undo();
    showMessage({ text: 'The change was undone.' });
  } catch (cause) {
    showMessage({ text: `The change could not be undone: ${asProblem(cause).message}`, failed: true });
  }
}
