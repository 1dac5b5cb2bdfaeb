import type { UseFormReturnType } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { asProblem, type How } from '#console/api/call.ts';
import { FormOnPage } from './form-page.tsx';
import { StaleDialog } from './stale-dialog.tsx';
import { told } from './told.tsx';
import { useFormPage } from './use-form-page.tsx';

/** What every record has that can be edited. */
interface Editable {
  readonly id: number;
  readonly etag: string;
  readonly updatedOwner: string;
}

/** How records of one kind are read, written, and shown in a form. */
export interface RecordKind<R extends Editable, V extends Record<string, unknown>> {
  /** Names them to the cache. */
  readonly kind: string;
  readonly get: (id: number) => Promise<R>;
  readonly update: (record: R, values: V, how: How) => Promise<unknown>;
  readonly valuesOf: (record: R) => V;
  /** In words, the fields that differ. */
  readonly differing: (before: V, after: V) => string[];
}

interface Props<R extends Editable, V extends Record<string, unknown>> {
  readonly of: RecordKind<R, V>;
  readonly record: R;
  /** Said beside the button where a change means more than its fields. */
  readonly warning?: (before: V, after: V) => string;
  readonly children: (form: UseFormReturnType<V>) => ReactNode;
}

/** The form of a record that is there: it saves over the version that was looked at, and can be taken back. */
export function RecordEditor<R extends Editable, V extends Record<string, unknown>>({ of, record, warning, children }: Props<R, V>) {
  const client = useQueryClient();
  const [theirs, setTheirs] = useState<R | null>(null);
  const initial = of.valuesOf(record);
  const key = [of.kind, 'one', record.id];
  async function write(from: R, values: V, how: How) {
    await of.update(from, values, how);
    const saved = await of.get(record.id);
    show(saved, of.valuesOf(saved));
    await client.invalidateQueries({ queryKey: [of.kind, 'list'] });
    return saved;
  }
  const page = useFormPage<V>({
    draft: `${of.kind} ${record.id}`,
    initial,
    save: async (values) => {
      try {
        const saved = await write(record, values, { ifMatch: record.etag });
        const undo = () => write(saved, initial, { ifMatch: saved.etag });
        told({ words: 'Saved. It holds from this moment on.', undo });
      } catch (cause) {
        if (asProblem(cause).status === 412) setTheirs(await of.get(record.id));
        throw cause;
      }
    },
  });
  function show(other: R, values: V) {
    client.setQueryData(key, other);
    page.form.setInitialValues(of.valuesOf(other));
    page.form.setValues(values);
    page.form.resetDirty(of.valuesOf(other));
    page.forget();
    setTheirs(null);
  }
  async function saveOver(other: R) {
    const mine = page.form.values;
    show(other, mine);
    try {
      await write(other, mine, { ifMatch: other.etag });
      told({ words: 'Saved. It holds from this moment on.' });
    } catch (cause) {
      page.forget(asProblem(cause));
    }
  }
  const changed = of.differing(initial, page.form.values);
  const means = warning?.(initial, page.form.values) ?? '';
  return (
    <FormOnPage page={page} saveLabel="Save" changes={`Changes: ${changed.join(', ')}. ${means}`}>
      {children(page.form)}
      <StaleDialog
        opened={theirs !== null}
        fields={theirs ? of.differing(initial, of.valuesOf(theirs)) : []}
        who={theirs?.updatedOwner ?? ''}
        close={() => setTheirs(null)}
        takeTheirs={() => theirs && show(theirs, of.valuesOf(theirs))}
        saveMine={() => theirs && void saveOver(theirs)}
      />
    </FormOnPage>
  );
}

/** In words, the fields whose values differ. @param words what each field is called */
export const differingBy =
  <V extends Record<string, unknown>>(words: Readonly<Record<string, string>>) =>
  (before: V, after: V): string[] => {
    const changed = Object.keys(before).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
    return [...new Set(changed.map((name) => words[name] ?? name))];
  };
