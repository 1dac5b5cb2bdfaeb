import { Group } from '@mantine/core';
import { DateTimePicker } from '@mantine/dates';
import type { UseFormReturnType } from '@mantine/form';
import { localTime, type ShareValues } from './share-values.ts';

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The end of the day that lies so many days ahead, in the operator's own time. */
function endOfDay(days: number): string {
  const at = new Date();
  at.setDate(at.getDate() + days);
  at.setHours(23, 59, 0, 0);
  return localTime(at.toISOString());
}

const presets = () => [
  { value: endOfDay(0), label: 'Today' },
  { value: endOfDay(7), label: 'In a week' },
  { value: endOfDay(30), label: 'In a month' },
  { value: endOfDay(365), label: 'In a year' },
];

/** From when until when the link is good. */
export function WhenFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const { from, until } = form.values;
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
        description="Then the link says that it has ended"
        placeholder="No end"
        clearable
        valueFormat="D MMMM YYYY HH:mm"
        defaultTimeValue="23:59"
        presets={presets()}
        value={until || null}
        onChange={(value) => form.setFieldValue('until', value ?? '')}
        error={form.errors['until']}
        clearButtonProps={{ 'aria-label': 'No end' }}
        submitButtonProps={{ 'aria-label': 'Take this time' }}
      />
    </Group>
  );
}
