import type { UseFormReturnType } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { asProblem, type ChangeOptions, Problem } from '#console/api/call.ts';
import { useCaller } from '#console/shell/caller.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { FormPageView } from './form-page.tsx';
import { showMessage } from './show-message.tsx';
import { useFormPage } from './use-form-page.ts';

/** The fields that every editable record has. */
interface Editable {
  readonly id: number;
  readonly etag: string;
  readonly updatedOwner: string;
}

/** How one kind of record is read, written, and shown in a form. */
export interface RecordKind<R extends Editable, V extends Record<string, unknown>> {
  /** First part of the query key of these records. */
  readonly kind: string;
  readonly get: (id: number) => Promise<R>;
  readonly update: (record: R, values: V, options: ChangeOptions) => Promise<unknown>;
  readonly valuesOf: (record: R) => V;
  /** Returns the labels of the fields that differ. */
  readonly changedFields: (before: V, after: V) => string[];
  /** Maps the name of an API field to the name of its form field, where these differ. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  /** Returns whether the change can be undone. For example, a replaced secret cannot be restored, because nobody can read it. */
  readonly undoable?: (before: V, after: V) => boolean;
}

interface Props<R extends Editable, V extends Record<string, unknown>> {
  readonly recordKind: RecordKind<R, V>;
  readonly record: R;
  /** Returns a further consequence of the change, shown beside the save button. */
  readonly warning?: (before: V, after: V) => string;
  /** Returns what the operator must confirm before saving. Empty: nothing. */
  readonly confirmation?: (before: V, after: V) => string;
  readonly readOnly?: boolean;
  readonly children: (form: UseFormReturnType<V>) => ReactNode;
}

const savedText = 'Saved. The change applies from now on.';
const savedNotLoadedText = 'Saved, but the saved version could not be loaded. It will be loaded before the next save.';

/** Returns a copy of `target` in which each field that differs between `before` and `after` has its value from `after`. */
function applyChanges<V extends Record<string, unknown>>(before: V, after: V, target: V): V {
  const changedFields = Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]));
  return { ...target, ...Object.fromEntries(changedFields) };
}

/** Returns the form of an existing record, and functions that show a newer version of the record in it. */
function useRecordForm<R extends Editable, V extends Record<string, unknown>>(recordKind: RecordKind<R, V>, record: R) {
  const client = useQueryClient();
  const caller = useCaller();
  /** The version that the form shows. The cache may already hold a newer one, which the operator has not seen. */
  const [base, setBase] = useState(record);
  /** The saved values, if the saved version could not be loaded: `base` is then an outdated version. */
  const [savedValues, setSavedValues] = useState<V | null>(null);
  const [newerVersion, setNewerVersion] = useState<R | null>(null);
  const before = savedValues ?? recordKind.valuesOf(base);

  /** Returns the saved record, or null if it could not be loaded again. */
  async function write(from: R, values: V): Promise<R | null> {
    await recordKind.update(from, values, { ifMatch: from.etag });
    const savedRecord = await recordKind.get(record.id).catch(() => null);
    if (savedRecord) showVersion(savedRecord);
    else showSavedValues(values);
    await client.invalidateQueries({ queryKey: [recordKind.kind, 'list'] });
    return savedRecord;
  }
  /** Returns the version to change and its new values. @throws Problem 412, if someone else has changed it after the operator saved it */
  async function prepareChange(values: V): Promise<[R, V]> {
    if (!savedValues) return [base, values];
    const loaded = await recordKind.get(record.id);
    if (loaded.updatedOwner !== caller.name) throw new Problem(412, 'versionStale', 'Not saved. Someone else has changed this record.');
    return [loaded, applyChanges(savedValues, values, recordKind.valuesOf(loaded))];
  }
  async function save(values: V) {
    try {
      const savedRecord = await write(...(await prepareChange(values)));
      if (!savedRecord) return showMessage({ text: savedNotLoadedText });
      const undo = async () => {
        if (page.form.isDirty()) throw new Problem(0, 'typing', 'save or discard your new input first.');
        await write(savedRecord, before);
      };
      showMessage({ text: savedText, ...(recordKind.undoable?.(before, values) === false ? {} : { undo }) });
    } catch (cause) {
      if (asProblem(cause).status === 412) setNewerVersion(await recordKind.get(record.id));
      throw cause;
    }
  }
  const page = useFormPage<V>({
    draft: `${recordKind.kind} ${record.id}`,
    initial: before,
    save,
    ...(recordKind.fieldNames ? { names: recordKind.fieldNames } : {}),
  });
  function showSavedValues(values: V) {
    setSavedValues(values);
    page.reset(values);
    void client.invalidateQueries({ queryKey: [recordKind.kind, 'one', record.id] });
  }
  function showVersion(newer: R, values: V = recordKind.valuesOf(newer)) {
    setBase(newer);
    setSavedValues(null);
    client.setQueryData([recordKind.kind, 'one', record.id], newer);
    page.reset(recordKind.valuesOf(newer), values);
    setNewerVersion(null);
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: a newer version replaces the form only while it has no unsaved input
  useEffect(() => {
    if (record.etag !== base.etag && !page.form.isDirty() && !page.busy) {
      setBase(record);
      setSavedValues(null);
      page.reset(recordKind.valuesOf(record));
    }
  }, [record]);
  return { page, before, newerVersion, setNewerVersion, showVersion };
}

/**
 * The form of an existing record. It saves only if the record still has the version that the form shows, except after a save whose result
 * could not be loaded (see `prepareChange`).
 */
export function RecordEditor<R extends Editable, V extends Record<string, unknown>>(props: Props<R, V>) {
  const { recordKind, record, warning, confirmation, readOnly = false, children } = props;
  const { page, before, newerVersion, setNewerVersion, showVersion } = useRecordForm(recordKind, record);
  const [valuesToConfirm, setValuesToConfirm] = useState<V | null>(null);
  const { values } = page.form;
  const submit = (event?: FormEvent<HTMLFormElement>) => {
    event?.preventDefault();
    if (confirmation?.(before, values)) setValuesToConfirm(values);
    else page.submit(event);
  };
  const warningText = warning?.(before, values) ?? '';
  const changedLabels = recordKind.changedFields(before, values);
  return (
    <FormPageView
      page={{ ...page, submit }}
      saveLabel="Save"
      changes={changedLabels.length > 0 ? `Changes: ${changedLabels.join(', ')}. ${warningText}` : ''}
      readOnly={readOnly}
    >
      {children(page.form)}
      <ConflictDialog
        opened={newerVersion !== null}
        fields={newerVersion ? recordKind.changedFields(before, recordKind.valuesOf(newerVersion)) : []}
        who={newerVersion?.updatedOwner ?? ''}
        close={() => setNewerVersion(null)}
        discardMine={() => newerVersion && showVersion(newerVersion)}
        keepBoth={() => newerVersion && showVersion(newerVersion, applyChanges(before, values, recordKind.valuesOf(newerVersion)))}
      />
      {valuesToConfirm && (
        <ConfirmDialog
          title="Save this change?"
          text={confirmation?.(before, valuesToConfirm) ?? ''}
          confirmLabel="Save anyway"
          run={async () => void page.save(valuesToConfirm)}
          close={() => setValuesToConfirm(null)}
        />
      )}
    </FormPageView>
  );
}

/** Returns a function that lists the labels of the fields whose values differ. @param labels label of each field */
export const changedFieldsBy =
  <V extends Record<string, unknown>>(labels: Readonly<Record<string, string>>) =>
  (before: V, after: V): string[] => {
    const changedNames = Object.keys(before).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
    return [...new Set(changedNames.map((name) => labels[name] ?? name))];
  };
