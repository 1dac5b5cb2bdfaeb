import { useNavigate } from '@tanstack/react-router';
import type { BulkAction } from './bulk.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import type { Noun } from './format.ts';

interface Props<T> {
  readonly kind: string;
  readonly of: Noun;
  readonly action: BulkAction<T>;
  readonly record: T;
  readonly nameOf: (record: T) => string;
  /** The list that it was in. */
  readonly back: string;
  readonly close: () => void;
}

/** Deletes the record of this page, and goes back to its list. */
export function DeleteDialog<T>({ kind, of, action, record, nameOf, back, close }: Props<T>) {
  const navigate = useNavigate();
  return (
    <BulkDialog
      kind={kind}
      of={of}
      action={action}
      records={[record]}
      nameOf={nameOf}
      close={(changed) => {
        close();
        // What was typed of it is nothing any more.
        if (changed) void navigate({ to: back, ignoreBlocker: true });
      }}
    />
  );
}
