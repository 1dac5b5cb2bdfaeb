import { type UseFormReturnType, useForm } from '@mantine/form';
import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { asProblem, type Problem } from '#console/api/call.ts';
import { useCaller } from '#console/shell/caller.ts';
import { deleteDraft, draftKey, readDraft, saveDraft } from './drafts.ts';
import { assignFieldErrors } from './field-errors.ts';

interface Options<V extends Record<string, unknown>> {
  /** Name of the draft. A draft restores unsaved input after a reload or a return to the page. */
  readonly draft: string;
  readonly initial: V;
  readonly save: (values: V) => Promise<void>;
  /** Maps the name of an API field to the name of its form field, where these differ. */
  readonly names?: Readonly<Record<string, string>>;
}

/** Why saving failed. If all errors are shown at fields, the text says to check these fields. */
export interface SaveFailure {
  readonly problem: Problem;
  readonly text: string;
}

/** A form that has its own page, and its state. */
export interface FormPage<V extends Record<string, unknown>> {
  readonly form: UseFormReturnType<V>;
  readonly submit: (event?: FormEvent<HTMLFormElement>) => void;
  readonly save: (values: V) => Promise<void>;
  readonly failure: SaveFailure | null;
  readonly busy: boolean;
  /** A draft has been restored. */
  readonly restored: boolean;
  readonly discard: () => void;
  /** Resets the form to new initial values. Values that differ from them count as unsaved input. */
  readonly reset: (initial: V, values?: V) => void;
  readonly blocker: ReturnType<typeof useBlocker>;
}

function failureText(problem: Problem, others: readonly string[]): string {
  if (problem.fieldErrors.length === 0) return problem.message;
  return others.length > 0 ? `Not saved. ${others.join(' ')}` : 'Not saved. Check the marked fields.';
}

/** Returns a form that keeps drafts, asks before the operator leaves the page with unsaved input, and shows each error at its field. */
export function useFormPage<V extends Record<string, unknown>>({ draft, initial, save, names = {} }: Options<V>): FormPage<V> {
  const key = draftKey(useCaller(), draft);
  const initialValues = useRef(initial);
  const [draftValues] = useState(() => readDraft(key, initial));
  const [restored, setRestored] = useState(draftValues !== null);
  const [failure, setFailure] = useState<SaveFailure | null>(null);
  const [busy, setBusy] = useState(false);
  const isSaving = useRef(false);
  const form = useForm<V>({ initialValues: initial });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a draft is restored once
  useEffect(() => {
    if (draftValues) form.setValues(draftValues);
  }, []);
  useEffect(() => {
    if (!isSaving.current) saveDraft(key, initialValues.current, form.values);
  }, [form.values, key]);
  const hasUnsavedInput = () => !isSaving.current && form.isDirty();
  const blocker = useBlocker({ shouldBlockFn: hasUnsavedInput, enableBeforeUnload: hasUnsavedInput, withResolver: true });

  function reset(next: V, values: V = next) {
    initialValues.current = next;
    form.setInitialValues(next);
    form.setValues(values);
    form.resetDirty(next);
    form.clearErrors();
    saveDraft(key, next, values);
    setFailure(null);
    setRestored(false);
  }
  async function run(values: V) {
    setBusy(true);
    setFailure(null);
    isSaving.current = true; // saving may open another page: that needs no confirmation and no draft
    try {
      await save(values);
      setRestored(false);
      deleteDraft(key);
    } catch (cause) {
      const problem = asProblem(cause);
      const { byField, others } = assignFieldErrors(problem, Object.keys(values), names);
      form.setErrors(byField);
      setFailure({ problem, text: failureText(problem, others) });
    } finally {
      setBusy(false);
      isSaving.current = false;
    }
  }
  return {
    form,
    submit: form.onSubmit((values) => void run(values)),
    save: run,
    failure,
    busy,
    restored,
    discard: () => reset(initialValues.current),
    reset,
    blocker,
  };
}
