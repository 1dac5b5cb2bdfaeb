import { type UseFormReturnType, useForm } from '@mantine/form';
import { useBlocker } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { asProblem, type Problem } from '#console/api/call.ts';
import { secretKeys } from '#core/records/profile-configuration.ts';
import { faultsFor } from './faults.ts';

interface Options<V extends Record<string, unknown>> {
  /** Names the draft in this tab: what was typed is there again after a reload, or on coming back. */
  readonly draft: string;
  readonly initial: V;
  readonly save: (values: V) => Promise<void>;
}

/** A form on a page of its own, with everything around its fields. */
export interface FormPage<V extends Record<string, unknown>> {
  readonly form: UseFormReturnType<V>;
  readonly submit: (event?: React.FormEvent<HTMLFormElement>) => void;
  readonly problem: Problem | null;
  readonly forget: (problem?: Problem) => void;
  readonly busy: boolean;
  /** What was typed before, and not saved, has been put in. */
  readonly restored: boolean;
  readonly discard: () => void;
  readonly blocker: ReturnType<typeof useBlocker>;
}

/** Passwords and the like are not left lying in the browser. */
const draftOf = (values: Record<string, unknown>) =>
  JSON.stringify(Object.fromEntries(Object.entries(values).filter(([name]) => name !== 'password' && !secretKeys.includes(name))));

function readDraft<V extends Record<string, unknown>>(key: string, initial: V): V | null {
  const kept = sessionStorage.getItem(key);
  if (kept === null) return null;
  const values: Record<string, unknown> = JSON.parse(kept);
  // Only what still has a field of the same kind: the form may have changed since.
  const same = Object.entries(values).filter(([name, value]) => name in initial && typeof value === typeof initial[name]);
  return { ...initial, ...Object.fromEntries(same) };
}

/** Keeps what is typed, asks before it is left, and shows each refusal at its field. */
export function useFormPage<V extends Record<string, unknown>>({ draft, initial, save }: Options<V>): FormPage<V> {
  const key = `postern-draft ${draft}`;
  const [kept] = useState(() => readDraft(key, initial));
  const [restored, setRestored] = useState(kept !== null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const saved = useRef(false);
  const form = useForm<V>({ initialValues: initial });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a draft is put in once
  useEffect(() => {
    if (kept) form.setValues(kept);
  }, []);
  const dirty = form.isDirty();
  useEffect(() => {
    if (saved.current) return;
    if (dirty) sessionStorage.setItem(key, draftOf(form.values));
    else sessionStorage.removeItem(key);
  }, [dirty, form.values, key]);
  const blocker = useBlocker({
    shouldBlockFn: () => !saved.current && form.isDirty(),
    enableBeforeUnload: () => !saved.current && form.isDirty(),
    withResolver: true,
  });

  async function run(values: V) {
    setBusy(true);
    setProblem(null);
    saved.current = true; // whoever is led on by a success leaves nothing behind
    try {
      await save(values);
      sessionStorage.removeItem(key);
      setRestored(false);
      form.resetDirty(values);
    } catch (cause) {
      saved.current = false;
      const failed = asProblem(cause);
      form.setErrors(faultsFor(failed));
      setProblem(failed);
    } finally {
      setBusy(false);
      saved.current = false;
    }
  }
  const discard = () => {
    sessionStorage.removeItem(key);
    form.reset();
    setRestored(false);
    setProblem(null);
  };
  return {
    form,
    submit: form.onSubmit((values) => void run(values)),
    problem,
    forget: (other) => setProblem(other ?? null),
    busy,
    restored,
    discard,
    blocker,
  };
}
