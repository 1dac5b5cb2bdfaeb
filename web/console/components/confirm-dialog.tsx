import { Button, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { asProblem } from '#console/api/call.ts';
import { Dialog } from './dialog.tsx';

interface Props {
  readonly title: string;
  readonly text: ReactNode;
  readonly confirmLabel: string;
  readonly destructive?: boolean;
  readonly run: () => Promise<unknown>;
  readonly close: () => void;
}

/** Describes an action, asks for confirmation, and runs the action. */
export function ConfirmDialog({ title, text, confirmLabel, destructive = false, run, close }: Props) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  async function confirm() {
    setBusy(true);
    try {
      await run();
      close();
    } catch (cause) {
      setError(asProblem(cause).message);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Dialog onClose={close} title={title}>
      <div>{text}</div>
      {error && (
        <Text c="var(--danger)" role="alert" mt="sm">
          {error}
        </Text>
      )}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={close} disabled={busy}>
          Cancel
        </Button>
        <Button color={destructive ? 'red' : 'accent'} loading={busy} onClick={() => void confirm()}>
          {confirmLabel}
        </Button>
      </Group>
    </Dialog>
  );
}
