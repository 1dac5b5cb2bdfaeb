import { Button, Group, List, Progress, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type BulkAction, runForEach, type RefusedRecord } from './bulk.ts';
import { Dialog } from './dialog.tsx';
import { formatCount, type Noun } from './format.ts';
import { showMessage } from './told.tsx';

interface Props<T> {
  readonly kind: string;
  readonly of: Noun;
  readonly action: BulkAction<T>;
  readonly records: readonly T[];
  readonly nameOf: (record: T) => string;
  readonly close: (changed: boolean) => void;
}

interface DryRunResult<T> {
  readonly accepted: readonly T[];
  readonly refused: readonly RefusedRecord<T>[];
  readonly warning: string;
}

const maxShown = 20;

/** Says what it will do, having asked the server for each record; then does it, and offers to take it back. */
export function BulkDialog<T>({ kind, of, action, records, nameOf, close }: Props<T>) {
  const client = useQueryClient();
  const [tried, setTried] = useState<DryRunResult<T> | null>(null);
  const [through, setThrough] = useState(0);
  const [busy, setBusy] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once, of what was chosen when the dialog opened
  useEffect(() => {
    let gone = false;
    const ask = async () => {
      const { done, refused } = await runForEach(records, (record) => action.run(record, { dryRun: true }), setThrough);
      const warning = await warningOf(action, done);
      if (!gone) setTried({ accepted: done, refused, warning });
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
    const { done, refused } = await runForEach(tried.accepted, (record) => action.run(record, {}), setThrough);
    await client.invalidateQueries({ queryKey: [kind] });
    const { undo } = action;
    showMessage({
      words: `${formatCount(done.length, ...of)} ${action.doneText}${refused.length > 0 ? `, ${refused.length} not: ${refused[0]?.problem.message}` : ''}.`,
      failed: refused.length > 0,
      ...(undo
        ? {
            undo: async () => {
              const back = await runForEach(done, undo, () => {});
              await client.invalidateQueries({ queryKey: [kind] });
              const [first] = back.refused;
              if (first) throw first.problem;
            },
          }
        : {}),
    });
    close(true);
  }

  const waiting = tried === null || busy;
  const all = busy ? (tried?.accepted.length ?? 0) : records.length;
  return (
    <Dialog onClose={() => !busy && close(false)} title={action.name}>
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
              {tried.accepted.length > 0
                ? `${formatCount(tried.accepted.length, ...of)} ${action.effect}.`
                : 'Nothing of what is chosen can be changed this way.'}
            </Text>
            {tried.warning && <Text fw={550}>{tried.warning}</Text>}
            {tried.accepted.length > 0 && <Names records={tried.accepted} nameOf={nameOf} />}
            {tried.refused.length > 0 && <RefusedList refused={tried.refused} nameOf={nameOf} />}
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" disabled={busy} onClick={() => close(false)}>
            Cancel
          </Button>
          <Button
            color={action.destructive ? 'red' : 'accent'}
            disabled={waiting || tried.accepted.length === 0}
            loading={busy}
            onClick={() => void doIt()}
            data-autofocus
          >
            {action.name}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** What else it means; where that cannot be asked, that is said, and nothing is held up. */
async function warningOf<T>(action: BulkAction<T>, records: readonly T[]): Promise<string> {
  try {
    return (await action.warning?.(records)) ?? '';
  } catch {
    return 'Who uses them could not be asked at this moment.';
  }
}

const maxNamesInline = 3;

function Names<T>({ records, nameOf }: { records: readonly T[]; nameOf: (record: T) => string }) {
  const names = records.slice(0, maxShown).map(nameOf).join(', ');
  const more = records.length > maxShown ? ` and ${records.length - maxShown} more` : '';
  if (records.length <= maxNamesInline) return <Text size="sm">{names}</Text>;
  return (
    <details>
      <summary>Which ones</summary>
      <Text size="sm">{names + more}</Text>
    </details>
  );
}

function RefusedList<T>({ refused, nameOf }: { refused: readonly RefusedRecord<T>[]; nameOf: (record: T) => string }) {
  return (
    <div>
      <Text>{refused.length === 1 ? 'One cannot:' : `${refused.length} cannot:`}</Text>
      <List size="sm">
        {refused.slice(0, maxShown).map(({ record, problem }) => (
          <List.Item key={nameOf(record)}>
            {nameOf(record)}: {problem.message}
          </List.Item>
        ))}
        {refused.length > maxShown && <List.Item>and {refused.length - maxShown} more</List.Item>}
      </List>
    </div>
  );
}
