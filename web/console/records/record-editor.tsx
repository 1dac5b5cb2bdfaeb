import type { UseFormReturnType } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { asProblem, type ChangeOptions, Problem } from '#console/api/call.ts';
import { ConfirmDialog } from './ask-dialog.tsx';
import { FormOnPage } from './form-page.tsx';
import { StaleDialog } from './stale-dialog.tsx';
import { showMessage } from './told.tsx';
import { useFormPage } from './use-form-page.ts';

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
  readonly update: (record: R, values: V, how: ChangeOptions) => Promise<unknown>;
  readonly valuesOf: (record: R) => V;
  /** In words, the fields that differ. */
  readonly changedFields: (before: V, after: V) => string[];
  /** The form's field by the interface's, where it is called otherwise. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  /** Can this change be taken back? Not where it lost what nobody can read. */
  readonly undoable?: (before: V, after: V) => boolean;
}

interface Props<R extends Editable, V extends Record<string, unknown>> {
  readonly of: RecordKind<R, V>;
  readonly record: R;
  /** Said beside the button where a change means more than its fields. */
  readonly warning?: (before: V, after: V) => string;
  /** Asked before what cannot be meant lightly; empty: nothing to ask. */
  readonly confirmation?: (before: V, after: V) => string;
  readonly readOnly?: boolean;
  readonly children: (form: UseFormReturnType<V>) => ReactNode;
}

const savedText = 'Saved. It holds from this moment on.';

/** What was changed from one to the other, laid over a third. */
function applyChanges<V extends Record<string, unknown>>(before: V, after: V, over: V): V {
  const changed = Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]));
  return { ...over, ...Object.fromEntries(changed) };
}

/** The form of a record that is there: it saves over the version that was looked at, and can be taken back. */
export function RecordEditor<R extends Editable, V extends Record<string, unknown>>(props: Props<R, V>) {
  const { of, record, warning, confirmation: question, readOnly = false, children } = props;
  const client = useQueryClient();
  /** What the form began with: a newer version in the cache is not what was looked at. */
  const [base, setBase] = useState(record);
  const [theirs, setTheirs] = useState<R | null>(null);
  const [valuesToConfirm, setValuesToConfirm] = useState<V | null>(null);
  const before = of.valuesOf(base);

  async function write(from: R, values: V): Promise<R> {
    await of.update(from, values, { ifMatch: from.etag });
    const saved = await of.get(record.id);
    adopt(saved);
    await client.invalidateQueries({ queryKey: [of.kind, 'list'] });
    return saved;
  }
  async function save(values: V) {
    try {
      const saved = await write(base, values);
      const undo = async () => {
        if (page.form.isDirty()) throw new Problem(0, 'typing', 'save or discard first what you have typed since.');
        await write(saved, before);
      };
      showMessage({ words: savedText, ...(of.undoable?.(before, values) === false ? {} : { undo }) });
    } catch (cause) {
      if (asProblem(cause).status === 412) setTheirs(await of.get(record.id));
      throw cause;
    }
  }
  const page = useFormPage<V>({ draft: `${of.kind} ${record.id}`, initial: before, save, ...(of.fieldNames ? { names: of.fieldNames } : {}) });
  function adopt(newer: R, values: V = of.valuesOf(newer)) {
    setBase(newer);
    client.setQueryData([of.kind, 'one', record.id], newer);
    page.restart(of.valuesOf(newer), values);
    setTheirs(null);
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: a newer version is shown only where nothing is being typed
  useEffect(() => {
    if (record.etag !== base.etag && !page.form.isDirty() && !page.busy) {
      setBase(record);
      page.restart(of.valuesOf(record));
    }
  }, [record]);

  const { values } = page.form;
  const submit = (event?: FormEvent<HTMLFormElement>) => {
    event?.preventDefault();
    if (question?.(before, values)) setValuesToConfirm(values);
    else page.submit(event);
  };
  const warningText = warning?.(before, values) ?? '';
  const changed = of.changedFields(before, values);
  return (
    <FormOnPage
      page={{ ...page, submit }}
      saveLabel="Save"
      changes={changed.length > 0 ? `Changes: ${changed.join(', ')}. ${warningText}` : ''}
      readOnly={readOnly}
    >
      {children(page.form)}
      <StaleDialog
        opened={theirs !== null}
        fields={theirs ? of.changedFields(before, of.valuesOf(theirs)) : []}
        who={theirs?.updatedOwner ?? ''}
        close={() => setTheirs(null)}
        takeTheirs={() => theirs && adopt(theirs)}
        keepBoth={() => theirs && adopt(theirs, applyChanges(before, values, of.valuesOf(theirs)))}
      />
      {valuesToConfirm && (
        <ConfirmDialog
          title="Is this meant?"
          words={question?.(before, valuesToConfirm) ?? ''}
          yes="Save it"
          run={async () => void page.save(valuesToConfirm)}
          close={() => setValuesToConfirm(null)}
        />
      )}
    </FormOnPage>
  );
}

/** In words, the fields whose values differ. @param words what each field is called */
export const changedFieldsBy =
  <V extends Record<string, unknown>>(words: Readonly<Record<string, string>>) =>
  (before: V, after: V): string[] => {
    const changed = Object.keys(before).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
    return [...new Set(changed.map((name) => words[name] ?? name))];
  };
