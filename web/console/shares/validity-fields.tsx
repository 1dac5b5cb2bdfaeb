import { Group } from '@mantine/core';
import { DateTimePicker } from '@mantine/dates';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { formatCount } from '#console/components/format.ts';
import { policyQuery } from './share-queries.ts';
import { localTime, type ShareValues } from './share-values.ts';

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Returns the end of the day that is `days` days from now, in the operator's time zone. */
function endOfDay(days: number): string {
  const at = new Date();
  at.setDate(at.getDate() + days);
  at.setHours(23, 59, 0, 0);
  return localTime(at.toISOString());
}

/** Returns the end of the last full day within the next `days` days. */
export const latestEnd = (days: number) => endOfDay(days - 1);

/** Returns the preset end times that the field "Expires" offers. @param maxDays days within which a share must expire, or null */
const presets = (maxDays: number | null) =>
  [
    { days: 0, label: 'Today' },
    { days: 7, label: 'In a week' },
    { days: 30, label: 'In a month' },
    { days: 365, label: 'In a year' },
  ]
    .filter(({ days }) => maxDays === null || days < maxDays)
    .map(({ days, label }) => ({ value: endOfDay(days), label }));

export function ValidityFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const { from, until } = form.values;
  const { data: policy } = useQuery(policyQuery);
  const maxDays = policy?.longestValidityDays ?? null;
  return (
    <Group grow align="start" className="when">
      <DateTimePicker
        label="Starts"
        description={`In your time zone (${zone})`}
        placeholder="Immediately"
        clearable
        valueFormat="D MMMM YYYY HH:mm"
        value={from || null}
        onChange={(value) => form.setFieldValue('from', value ?? '')}
        error={form.errors['from']}
        clearButtonProps={{ 'aria-label': 'Clear start' }}
        submitButtonProps={{ 'aria-label': 'Apply time' }}
      />
      <DateTimePicker
        label="Expires"
        description={
          maxDays === null
            ? 'After this time, visitors see the message “This link has expired”'
            : `At most ${formatCount(maxDays, 'day', 'days')} from now, or from the start if that is later (policy)`
        }
        placeholder="Never"
        clearable
        valueFormat="D MMMM YYYY HH:mm"
        defaultTimeValue="23:59"
        presets={presets(maxDays)}
        value={until || null}
        onChange={(value) => form.setFieldValue('until', value ?? '')}
        error={form.errors['until']}
        clearButtonProps={{ 'aria-label': 'Clear end' }}
        submitButtonProps={{ 'aria-label': 'Apply time' }}
      />
    </Group>
  );
}
