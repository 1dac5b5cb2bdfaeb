import { useNavigate } from '@tanstack/react-router';
import type { BulkAction } from './bulk.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import type { Noun } from './format.ts';
import type { Row } from './record-table.tsx';

interface Props<T extends Row> {
  readonly kind: string;
  readonly noun: Noun;
  readonly action: BulkAction<T>;
  readonly record: T;
  readonly nameOf: (record: T) => string;
  /** Path of the list of such records. */
  readonly listPath: string;
  readonly close: () => void;
}

/** A dialog that deletes the record of the page after a confirmation, and then opens the list of such records. */
export function DeleteDialog<T extends Row>({ kind, noun, action, record, nameOf, listPath, close }: Props<T>) {
  const navigate = useNavigate();
  return (
    <BulkDialog
      kind={kind}
      noun={noun}
      action={action}
      records={[record]}
      nameOf={nameOf}
      close={(changed) => {
        close();
        // The record no longer exists, so its unsaved input is discarded without a confirmation.
        if (changed) void navigate({ to: listPath, ignoreBlocker: true });
      }}
    />
  );
}
