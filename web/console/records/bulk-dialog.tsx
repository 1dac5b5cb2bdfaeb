import { Button, Group, List, Modal, Progress, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type BulkAction, forEachOf, type Refused } from './bulk.ts';
import { counted, type Named } from './format.ts';
import { told } from './told.tsx';

interface Props<T> {
  readonly kind: string;
  readonly of: Named;
  readonly action: BulkAction<T>;
  readonly records: readonly T[];
  readonly nameOf: (record: T) => string;
  readonly close: (changed: boolean) => void;
}

interface Tried<T> {
  readonly would: readonly T[];
  readonly refused: readonly Refused<T>[];
  readonly warning: string;
}

const mostShown = 20;

/** Says what it will do, having asked the server for each record; then does it, and offers to take it back. */
export function BulkDialog<T>({ kind, of, action, records, nameOf, close }: Props<T>) {
  const client = useQueryClient();
  const [tried, setTried] = useState<Tried<T> | null>(null);
  const [through, setThrough] = useState(0);
  const [busy, setBusy] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once, of what was chosen when the dialog opened
  useEffect(() => {
    let gone = false;
    const ask = async () => {
      const { done, refused } = await forEachOf(records, (record) => action.run(record, { dryRun: true }), setThrough);
      const warning = (await action.warning?.(done)) ?? '';
      if (!gone) setTried({ would: done, refused, warning });
    };
    void ask();
    return () => {
      gone = true;
    };
  }, []);

  async function doIt() {
    if (!tried) return;
    setBusy(true);
    setThrough(0);
    const { done, refused } = await forEachOf(tried.would, (record) => action.run(record, {}), setThrough);
    await client.invalidateQueries({ queryKey: [kind] });
    const { undo } = action;
    told({
      words: `${counted(done.length, ...of)} changed${refused.length > 0 ? `, ${refused.length} not: ${refused[0]?.problem.message}` : ''}.`,
      failed: refused.length > 0,
      ...(undo
        ? {
            undo: async () => {
              await forEachOf(done, undo, () => {});
              await client.invalidateQueries({ queryKey: [kind] });
            },
          }
        : {}),
    });
    close(true);
  }

  const waiting = tried === null || busy;
  const all = busy ? (tried?.would.length ?? 0) : records.length;
  return (
    <Modal opened onClose={() => !busy && close(false)} title={action.name} centered>
      <Stack>
        {waiting && (
          <>
            <Text role="status">{busy ? 'Working …' : 'Looking what this would do …'}</Text>
            <Progress value={(100 * through) / Math.max(1, all)} aria-label="Progress" />
          </>
        )}
        {tried && !busy && (
          <>
            <Text>
              {tried.would.length > 0
                ? `${counted(tried.would.length, ...of)} ${action.does}.`
                : 'Nothing of what is chosen can be changed this way.'}
            </Text>
            {tried.warning && <Text fw={550}>{tried.warning}</Text>}
            {tried.refused.length > 0 && <RefusedList refused={tried.refused} nameOf={nameOf} />}
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" disabled={busy} onClick={() => close(false)}>
            Cancel
          </Button>
          <Button
            color={action.loss ? 'red' : 'accent'}
            disabled={waiting || tried.would.length === 0}
            loading={busy}
            onClick={() => void doIt()}
            data-autofocus
          >
            {action.name}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function RefusedList<T>({ refused, nameOf }: { refused: readonly Refused<T>[]; nameOf: (record: T) => string }) {
  return (
    <div>
      <Text>{refused.length === 1 ? 'One cannot:' : `${refused.length} cannot:`}</Text>
      <List size="sm">
        {refused.slice(0, mostShown).map(({ record, problem }) => (
          <List.Item key={nameOf(record)}>
            {nameOf(record)}: {problem.message}
          </List.Item>
        ))}
        {refused.length > mostShown && <List.Item>and {refused.length - mostShown} more</List.Item>}
      </List>
    </div>
  );
}
