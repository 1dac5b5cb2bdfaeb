import { Alert, Button, Group, Text } from '@mantine/core';
import type { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import type { FormPage } from './use-form-page.ts';

interface Props<V extends Record<string, unknown>> {
  readonly page: FormPage<V>;
  readonly saveLabel: string;
  /** A summary of the changes, shown beside the button before they are saved. */
  readonly changes?: string;
  readonly children: ReactNode;
  readonly extra?: ReactNode;
  /** Shows only the fields, disabled, because the role does not allow changes. */
  readonly readOnly?: boolean;
  /** The form creates a record. It can be saved without any input. */
  readonly isNew?: boolean;
}

/** A form. The bar with the summary of changes and the save button stays visible. */
export function FormPageView<V extends Record<string, unknown>>({
  page,
  saveLabel,
  changes,
  children,
  extra,
  isNew = false,
  readOnly = false,
}: Props<V>) {
  const { form, submit, failure, busy, restored, discard } = page;
  const dirty = form.isDirty();
  if (readOnly)
    return (
      <fieldset disabled className="plain" aria-label="Read-only fields">
        {children}
      </fieldset>
    );
  return (
    <form onSubmit={submit} noValidate className="form-page">
      {restored && (
        <Alert title="Draft restored" color="accent" withCloseButton={false} mb="md">
          <Group justify="space-between">
            <Text size="sm">You entered this earlier and did not save it.</Text>
            <Button variant="default" size="compact-sm" onClick={discard}>
              Discard draft
            </Button>
          </Group>
        </Alert>
      )}
      {children}
      <div className="save-bar">
        <div className="save-text" role="status">
          {failure && <Text c="var(--danger)">{failure.text}</Text>}
          {dirty && changes && <Text c="dimmed">{changes}</Text>}
        </div>
        <Group gap="sm" wrap="nowrap">
          {extra}
          {dirty && !isNew && (
            <Button variant="default" onClick={discard} disabled={busy}>
              Discard changes
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

interface LeaveDialogProps {
  readonly blocker: ReturnType<typeof useBlocker>;
  readonly text?: string;
}

/** Asks for confirmation before the operator leaves a page with unsaved input. */
export function LeaveDialog({
  blocker,
  text = 'Your input stays in this tab, except for passwords and other secrets. You will see it again when you come back.',
}: LeaveDialogProps) {
  if (blocker.status !== 'blocked') return null;
  return (
    <Dialog onClose={blocker.reset} title="Leave without saving?">
      <Text mb="md">{text}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={blocker.proceed}>
          Leave page
        </Button>
        <Button onClick={blocker.reset} data-autofocus>
          Stay on page
        </Button>
      </Group>
    </Dialog>
  );
}
