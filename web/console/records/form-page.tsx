import { Alert, Button, Group, Text } from '@mantine/core';
import type { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import type { FormPage } from './use-form-page.ts';

interface Props<V extends Record<string, unknown>> {
  readonly page: FormPage<V>;
  readonly saveLabel: string;
  /** What will be different, said beside the button before it is saved. */
  readonly changes?: string;
  readonly children: ReactNode;
  readonly extra?: ReactNode;
  /** To look at alone: the role does not reach further. */
  readonly readOnly?: boolean;
  /** A new record may be saved before anything was changed. */
  readonly isNew?: boolean;
}

/** The fields, and at the foot, always in sight, what will change and the button that saves it. */
export function FormOnPage<V extends Record<string, unknown>>({
  page,
  saveLabel,
  changes,
  children,
  extra,
  isNew = false,
  readOnly = false,
}: Props<V>) {
  const { form, submit, failure: notSaved, busy, restored, discard } = page;
  const dirty = form.isDirty();
  if (readOnly)
    return (
      <fieldset disabled className="plain" aria-label="To look at">
        {children}
      </fieldset>
    );
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
          {notSaved && <Text c="var(--loss)">{notSaved.words}</Text>}
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
      <LeaveDialog blocker={page.blocker} />
    </form>
  );
}

interface Leaving {
  readonly blocker: ReturnType<typeof useBlocker>;
  readonly words?: string;
}

/** Asks before what is not saved is left. */
export function LeaveDialog({ blocker, words = 'What you have typed stays in this tab: it is here again when you come back.' }: Leaving) {
  if (blocker.status !== 'blocked') return null;
  return (
    <Dialog onClose={blocker.reset} title="Leave without saving?">
      <Text mb="md">{words}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={blocker.proceed}>
          Leave
        </Button>
        <Button onClick={blocker.reset} data-autofocus>
          Stay
        </Button>
      </Group>
    </Dialog>
  );
}
