import { Button, Group, List, Progress, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type BulkAction, type FailedRecord, runForEach } from './bulk.ts';
import { Dialog } from './dialog.tsx';
import { formatCount, type Noun } from './format.ts';
import type { Row } from './record-table.tsx';
import { showMessage } from './show-message.tsx';

interface Props<T extends Row> {
  readonly kind: string;
  readonly noun: Noun;
  readonly action: BulkAction<T>;
  readonly records: readonly T[];
  readonly nameOf: (record: T) => string;
  readonly close: (changed: boolean) => void;
}

interface DryRunResult<T> {
  readonly accepted: readonly T[];
  readonly failed: readonly FailedRecord<T>[];
  readonly warning: string;
}

const maxShown = 20;

/** Checks an action on each record by a dry run. Returns the results, and a function that runs the action. */
function useBulkAction<T extends Row>({ kind, noun, action, records, close }: Props<T>) {
  const client = useQueryClient();
  const [dryRun, setDryRun] = useState<DryRunResult<T> | null>(null);
  const [progress, setProgress] = useState(0);
  const [busy, setBusy] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, for the records that were selected when the dialog opened
  useEffect(() => {
    let isClosed = false;
    const check = async () => {
      const { done, failed } = await runForEach(records, (record) => action.run(record, { dryRun: true }), setProgress);
      const warning = await loadWarning(action, done);
      if (!isClosed) setDryRun({ accepted: done, failed, warning });
    };
    void check();
    return () => {
      isClosed = true;
    };
  }, []);

  async function runAction() {
    if (!dryRun) return;
    setBusy(true);
    setProgress(0);
    const { done, failed } = await runForEach(dryRun.accepted, (record) => action.run(record, {}), setProgress);
    await client.invalidateQueries({ queryKey: [kind] });
    const { undo } = action;
    const undoAll = async () => {
      if (!undo) return;
      const undoResult = await runForEach(done, undo, () => {});
      await client.invalidateQueries({ queryKey: [kind] });
      const [first] = undoResult.failed;
      if (first) throw first.problem;
    };
    showMessage({
      text: `${formatCount(done.length, ...noun)} ${action.doneText}.${failureText(failed.map(({ problem }) => problem.message))}`,
      failed: failed.length > 0,
      ...(undo && done.length > 0 ? { undo: undoAll } : {}),
    });
    close(done.length > 0);
  }
  const total = busy ? (dryRun?.accepted.length ?? 0) : records.length;
  return { dryRun, busy, percent: (100 * progress) / Math.max(1, total), runAction };
}

/** Returns how many records failed, with the first message. @param messages one for each record that failed */
function failureText(messages: readonly string[]): string {
  if (messages.length === 0) return '';
  return ` ${messages.length} failed${new Set(messages).size > 1 ? ', the first of them' : ''}: ${messages[0]}`;
}

/** Shows what an action would change, runs it after confirmation, and offers undo if the action can be undone. */
export function BulkDialog<T extends Row>(props: Props<T>) {
  const { noun, action, nameOf, close } = props;
  const { dryRun, busy, percent, runAction } = useBulkAction(props);
  const isWaiting = dryRun === null || busy;
  return (
    <Dialog onClose={() => !busy && close(false)} title={action.name}>
      <Stack>
        {isWaiting && (
          <>
            <Text role="status">{busy ? 'Running…' : 'Checking…'}</Text>
            <Progress value={percent} aria-label="Progress" />
          </>
        )}
        {dryRun && !busy && (
          <>
            <Text>
              {dryRun.accepted.length > 0
                ? `${formatCount(dryRun.accepted.length, ...noun)} ${action.effect}.`
                : 'This action is not possible for any of the selected records.'}
            </Text>
            {dryRun.warning && <Text fw={550}>{dryRun.warning}</Text>}
            {dryRun.accepted.length > 0 && <Names records={dryRun.accepted} nameOf={nameOf} />}
            {dryRun.failed.length > 0 && <FailedList failed={dryRun.failed} nameOf={nameOf} />}
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" disabled={busy} onClick={() => close(false)}>
            Cancel
          </Button>
          <Button
            color={action.destructive ? 'red' : 'accent'}
            disabled={isWaiting || dryRun.accepted.length === 0}
            loading={busy}
            onClick={() => void runAction()}
            data-autofocus
          >
            {action.name}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** Returns the warning of an action. A failure to load it does not block the action. */
async function loadWarning<T>(action: BulkAction<T>, records: readonly T[]): Promise<string> {
  try {
    return (await action.warning?.(records)) ?? '';
  } catch {
    return 'Postern could not check who uses these records.';
  }
}

const maxNamesInline = 3;

function Names<T>({ records, nameOf }: { records: readonly T[]; nameOf: (record: T) => string }) {
  const names = records.slice(0, maxShown).map(nameOf).join(', ');
  const more = records.length > maxShown ? ` and ${records.length - maxShown} more` : '';
  if (records.length <= maxNamesInline) return <Text size="sm">{names}</Text>;
  return (
    <details>
      <summary>Show names</summary>
      <Text size="sm">{names + more}</Text>
    </details>
  );
}

function FailedList<T extends Row>({ failed, nameOf }: { failed: readonly FailedRecord<T>[]; nameOf: (record: T) => string }) {
  return (
    <div>
      <Text>{failed.length === 1 ? 'Not possible for 1 record:' : `Not possible for ${failed.length} records:`}</Text>
      <List size="sm">
        {failed.slice(0, maxShown).map(({ record, problem }) => (
          <List.Item key={record.id}>
            {nameOf(record)}: {problem.message}
          </List.Item>
        ))}
        {failed.length > maxShown && <List.Item>and {failed.length - maxShown} more</List.Item>}
      </List>
    </div>
  );
}
