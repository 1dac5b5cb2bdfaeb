import { type UseFormReturnType, useForm } from '@mantine/form';
import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { asProblem, type Problem } from '#console/api/call.ts';
import { useCaller } from '#console/shell/who.ts';
import { draftKey, deleteDraft, saveDraft, readDraft } from './drafts.ts';
import { assignFieldErrors } from './faults.ts';

interface Options<V extends Record<string, unknown>> {
  /** Names the draft in this tab: what was typed is there again after a reload, or on coming back. */
  readonly draft: string;
  readonly initial: V;
  readonly save: (values: V) => Promise<void>;
  /** The form's field by the interface's, where it is called otherwise. */
  readonly names?: Readonly<Record<string, string>>;
}

/** Why something was not saved, as far as no field says it. */
export interface SaveFailure {
  readonly problem: Problem;
  readonly words: string;
}

/** A form on a page of its own, with everything around its fields. */
export interface FormPage<V extends Record<string, unknown>> {
  readonly form: UseFormReturnType<V>;
  readonly submit: (event?: FormEvent<HTMLFormElement>) => void;
  /** Saves these values as if they had been typed. */
  readonly save: (values: V) => Promise<void>;
  readonly failure: SaveFailure | null;
  readonly busy: boolean;
  /** What was typed before, and not saved, has been put in. */
  readonly restored: boolean;
  readonly discard: () => void;
  /** Begins again from these, with nothing typed but what differs. */
  readonly restart: (initial: V, values?: V) => void;
  readonly blocker: ReturnType<typeof useBlocker>;
}

function failureText(problem: Problem, elsewhere: readonly string[]): string {
  if (problem.fieldErrors.length === 0) return problem.message;
  return elsewhere.length > 0 ? `Not saved. ${elsewhere.join(' ')}` : 'Not saved: look at the fields that are marked.';
}

/** Keeps what is typed, asks before it is left, and shows each refusal at its field. */
export function useFormPage<V extends Record<string, unknown>>({ draft, initial, save, names = {} }: Options<V>): FormPage<V> {
  const key = draftKey(useCaller(), draft);
  const initialValues = useRef(initial);
  const [draftValues] = useState(() => readDraft(key, initial));
  const [restored, setRestored] = useState(draftValues !== null);
  const [notSaved, setNotSaved] = useState<SaveFailure | null>(null);
  const [busy, setBusy] = useState(false);
  const isSaving = useRef(false);
  const form = useForm<V>({ initialValues: initial });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a draft is put in once
  useEffect(() => {
    if (draftValues) form.setValues(draftValues);
  }, []);
  useEffect(() => {
    if (!isSaving.current) saveDraft(key, initialValues.current, form.values);
  }, [form.values, key]);
  const hasUnsavedInput = () => !isSaving.current && form.isDirty();
  const blocker = useBlocker({ shouldBlockFn: hasUnsavedInput, enableBeforeUnload: hasUnsavedInput, withResolver: true });

  function begin(next: V, values: V = next) {
    initialValues.current = next;
    form.setInitialValues(next);
    form.setValues(values);
    form.resetDirty(next);
    form.clearErrors();
    saveDraft(key, next, values);
    setNotSaved(null);
    setRestored(false);
  }
  async function run(values: V) {
    setBusy(true);
    setNotSaved(null);
    isSaving.current = true; // whoever is led on by a success leaves nothing behind
    try {
      await save(values);
      setRestored(false);
      deleteDraft(key);
    } catch (cause) {
      const problem = asProblem(cause);
      const { byField: at, others: elsewhere } = assignFieldErrors(problem, Object.keys(values), names);
      form.setErrors(at);
      setNotSaved({ problem, words: failureText(problem, elsewhere) });
    } finally {
      setBusy(false);
      isSaving.current = false;
    }
  }
  return {
    form,
    submit: form.onSubmit((values) => void run(values)),
    save: run,
    failure: notSaved,
    busy,
    restored,
    discard: () => begin(initialValues.current),
    restart: begin,
    blocker,
  };
}
