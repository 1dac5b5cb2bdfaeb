import { Button, Group, Stack, Text } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { type FormEvent, type ReactNode, useState } from 'react';
import { asProblem, type Problem } from '#console/api/call.ts';
import { assignFieldErrors } from './field-errors.ts';

/** A form of a few fields, in a dialog or on a page. */
export interface SmallForm<V extends Record<string, unknown>> {
  readonly form: UseFormReturnType<V>;
  readonly submit: (event?: FormEvent<HTMLFormElement>) => void;
  /** The error message, unless a field shows it. */
  readonly failure: string;
}

/** Returns a small form. @param errorsOf returns further errors by field for a problem, such as one without field errors */
export function useSmallForm<V extends Record<string, unknown>>(
  initialValues: V,
  save: (values: V) => Promise<unknown>,
  errorsOf: (problem: Problem) => Record<string, string> = () => ({}),
): SmallForm<V> {
  const [failure, setFailure] = useState('');
  const form = useForm<V>({ initialValues });
  const submit = form.onSubmit(async (values) => {
    setFailure('');
    try {
      await save(values);
    } catch (cause) {
      const problem = asProblem(cause);
      const { byField, others } = assignFieldErrors(problem, Object.keys(values));
      const own = errorsOf(problem);
      form.setErrors({ ...byField, ...own });
      if (problem.fieldErrors.length > 0) setFailure(others.join(' '));
      else if (Object.keys(own).length === 0) setFailure(problem.message);
    }
  });
  return { form, submit, failure };
}

interface Props<V extends Record<string, unknown>> {
  readonly smallForm: SmallForm<V>;
  readonly saveLabel: string;
  readonly cancel?: (() => void) | undefined;
  readonly children: ReactNode;
}

/** Shows the fields, the error message and the buttons of a small form. */
export function SmallFormFields<V extends Record<string, unknown>>({
  smallForm: { form, submit, failure },
  saveLabel,
  cancel,
  children,
}: Props<V>) {
  return (
    <form onSubmit={submit}>
      <Stack>
        {children}
        {failure && (
          <Text c="var(--danger)" role="alert">
            {failure}
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
