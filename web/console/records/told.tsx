import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { asProblem } from '#console/api/call.ts';

interface Message {
  readonly words: string;
  readonly failed?: boolean;
  /** Takes back what was done. */
  readonly undo?: () => Promise<unknown>;
}

/** Tells at the foot of the page what has happened; what can be taken back offers it there. */
export function showMessage({ words, failed = false, undo }: Message): void {
  const id = notifications.show({
    color: failed ? 'red' : 'accent',
    withCloseButton: true,
    closeButtonProps: { 'aria-label': 'Close' },
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{words}</Text>
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
    showMessage({ words: 'Taken back.' });
  } catch (cause) {
    showMessage({ words: `It could not be taken back: ${asProblem(cause).message}`, failed: true });
  }
}
