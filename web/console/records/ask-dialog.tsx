import { Button, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { asProblem } from '#console/api/call.ts';
import { Dialog } from './dialog.tsx';

interface Props {
  readonly title: string;
  readonly words: ReactNode;
  readonly yes: string;
  readonly loss?: boolean;
  readonly run: () => Promise<unknown>;
  readonly close: () => void;
}

/** Asks once, in words that name what will happen, then does it. */
export function ConfirmDialog({ title, words, yes, loss = false, run, close }: Props) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState('');
  async function go() {
    setBusy(true);
    try {
      await run();
      close();
    } catch (cause) {
      setFailed(asProblem(cause).message);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Dialog onClose={close} title={title}>
      <div>{words}</div>
      {failed && (
        <Text c="var(--loss)" role="alert" mt="sm">
          {failed}
        </Text>
      )}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={close} disabled={busy}>
          Cancel
        </Button>
        <Button color={loss ? 'red' : 'accent'} loading={busy} onClick={() => void go()}>
          {yes}
        </Button>
      </Group>
    </Dialog>
  );
}
