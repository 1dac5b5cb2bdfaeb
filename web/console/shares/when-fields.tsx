import { Group } from '@mantine/core';
import { DateTimePicker } from '@mantine/dates';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { policyQuery } from './share-queries.ts';
import { localTime, type ShareValues } from './share-values.ts';

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The end of the day that lies so many days ahead, in the operator's own time. */
function endOfDay(days: number): string {
  const at = new Date();
  at.setDate(at.getDate() + days);
  at.setHours(23, 59, 0, 0);
  return localTime(at.toISOString());
}

/** Returns the end of the last day that lies wholly within so many days from now. */
export const latestEnd = (days: number) => endOfDay(days - 1);

/** @param maxDays days until a share must have ended; null: it need not end */
const presets = (maxDays: number | null) =>
  [
    { days: 0, label: 'Today' },
    { days: 7, label: 'In a week' },
    { days: 30, label: 'In a month' },
    { days: 365, label: 'In a year' },
  ]
    .filter(({ days }) => maxDays === null || days < maxDays)
    .map(({ days, label }) => ({ value: endOfDay(days), label }));

/** From when until when the link is good. */
export function ValidityFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const { from, until } = form.values;
  const { data: policy } = useQuery(policyQuery);
  const longest = policy?.longestValidityDays ?? null;
  return (
    <Group grow align="start" className="when">
      <DateTimePicker
        label="From"
        description={`In your time zone, ${zone}`}
        placeholder="At once"
        clearable
        valueFormat="D MMMM YYYY HH:mm"
        value={from || null}
        onChange={(value) => form.setFieldValue('from', value ?? '')}
        error={form.errors['from']}
        clearButtonProps={{ 'aria-label': 'From at once' }}
        submitButtonProps={{ 'aria-label': 'Take this time' }}
      />
      <DateTimePicker
        label="Until"
        description={longest === null ? 'Then the link says that it has ended' : `At most ${longest} days ahead: the policy asks for it`}
        placeholder="No end"
        clearable
        valueFormat="D MMMM YYYY HH:mm"
        defaultTimeValue="23:59"
        presets={presets(longest)}
        value={until || null}
        onChange={(value) => form.setFieldValue('until', value ?? '')}
        error={form.errors['until']}
        clearButtonProps={{ 'aria-label': 'No end' }}
        submitButtonProps={{ 'aria-label': 'Take this time' }}
      />
    </Group>
  );
}
