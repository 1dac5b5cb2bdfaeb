import { Button, Group, Stack, Text } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { type FormEvent, type ReactNode, useState } from 'react';
import { asProblem, type Problem } from '#console/api/call.ts';
import { assignFieldErrors } from './faults.ts';

/** A form of a few fields in a dialog. */
export interface SmallForm<V extends Record<string, unknown>> {
  readonly form: UseFormReturnType<V>;
  readonly submit: (event?: FormEvent<HTMLFormElement>) => void;
  /** What was refused, as far as no field says it. */
  readonly failure: string;
}

/** @param errorsOf puts a refusal at fields where it names none */
export function useSmallForm<V extends Record<string, unknown>>(
  initialValues: V,
  save: (values: V) => Promise<unknown>,
  errorsOf: (problem: Problem) => Record<string, string> = () => ({}),
): SmallForm<V> {
  const [failed, setFailed] = useState('');
  const form = useForm<V>({ initialValues });
  const submit = form.onSubmit(async (values) => {
    setFailed('');
    try {
      await save(values);
    } catch (cause) {
      const problem = asProblem(cause);
      const { byField: at, others: elsewhere } = assignFieldErrors(problem, Object.keys(values));
      const own = errorsOf(problem);
      form.setErrors({ ...at, ...own });
      if (problem.fieldErrors.length > 0) setFailed(elsewhere.join(' '));
      else if (Object.keys(own).length === 0) setFailed(problem.message);
    }
  });
  return { form, submit, failure: failed };
}

interface Props<V extends Record<string, unknown>> {
  readonly of: SmallForm<V>;
  readonly saveLabel: string;
  readonly cancel?: (() => void) | undefined;
  readonly children: ReactNode;
}

/** Its fields, what was refused, and its buttons. */
export function SmallFormFields<V extends Record<string, unknown>>({
  of: { form, submit, failure: failed },
  saveLabel,
  cancel,
  children,
}: Props<V>) {
  return (
    <form onSubmit={submit}>
      <Stack>
        {children}
        {failed && (
          <Text c="var(--loss)" role="alert">
            {failed}
          </Text>
        )}
        <Group justify="flex-end">
          {cancel && (
            <Button variant="default" onClick={cancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={form.submitting} fullWidth={cancel === undefined}>
            {saveLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
