import { Alert, Button, Group, Modal, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { FormPage } from './use-form-page.tsx';

interface Props<V extends Record<string, unknown>> {
  readonly page: FormPage<V>;
  readonly saveLabel: string;
  /** What will be different, said beside the button before it is saved. */
  readonly changes?: string;
  readonly children: ReactNode;
  readonly extra?: ReactNode;
  /** A new record may be saved before anything was changed. */
  readonly isNew?: boolean;
}

/** The fields, and at the foot, always in sight, what will change and the button that saves it. */
export function FormOnPage<V extends Record<string, unknown>>({ page, saveLabel, changes, children, extra, isNew = false }: Props<V>) {
  const { form, submit, problem, busy, restored, discard } = page;
  const dirty = form.isDirty();
  return (
    <form onSubmit={submit} noValidate className="form-page">
      {restored && (
        <Alert title="This is not saved yet" color="accent" withCloseButton={false} mb="md">
          <Group justify="space-between">
            <Text size="sm">What you had typed here before has been put in again.</Text>
            <Button variant="default" size="compact-sm" onClick={discard}>
              Discard it
            </Button>
          </Group>
        </Alert>
      )}
      {children}
      <div className="save-bar">
        <div className="save-words" role="status">
          {problem && (
            <Text c="var(--loss)">{problem.faults.length > 0 ? 'Not saved: look at the fields that are marked.' : problem.message}</Text>
          )}
          {dirty && changes && <Text c="dimmed">{changes}</Text>}
        </div>
        <Group gap="sm" wrap="nowrap">
          {extra}
          {dirty && !isNew && (
            <Button variant="default" onClick={discard} disabled={busy}>
              Undo changes
            </Button>
          )}
          <Button type="submit" loading={busy} disabled={!dirty && !isNew}>
            {saveLabel}
          </Button>
        </Group>
      </div>
      <LeaveQuestion page={page} />
    </form>
  );
}

function LeaveQuestion<V extends Record<string, unknown>>({ page: { blocker } }: { page: FormPage<V> }) {
  if (blocker.status !== 'blocked') return null;
  return (
    <Modal opened onClose={blocker.reset} title="Leave without saving?" centered>
      <Text mb="md">What you have typed stays in this tab: it is here again when you come back.</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={blocker.proceed}>
          Leave
        </Button>
        <Button onClick={blocker.reset} data-autofocus>
          Stay
        </Button>
      </Group>
    </Modal>
  );
}
