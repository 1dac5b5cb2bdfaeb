import { Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { changedFieldsBy } from '#console/records/record-editor.tsx';
import { Section } from '#console/records/section.tsx';
import type { Location } from '#core/records/location.ts';

/** A location as its form holds it. */
export interface LocationValues extends Record<string, unknown> {
  readonly name: string;
  readonly folder: string;
  /** What of the configuration the form does not show: it is sent back as it is. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** A location as it was answered, for its form. */
export function locationValuesOf({ name, configuration }: Location): LocationValues {
  const { folder, ...rest }: Record<string, unknown> = configuration === '' ? {} : JSON.parse(configuration);
  return { name, folder: typeof folder === 'string' ? folder : '', rest };
}

/** The form as location/add and location/update take it. */
export const locationBodyOf = ({ name, folder, rest }: LocationValues) => ({ name, configuration: JSON.stringify({ folder, ...rest }) });

export const changedLocationFields = changedFieldsBy<LocationValues>({ name: 'name', folder: 'folder' });

/** What the interface calls otherwise than the form. */
export const locationFieldNames = { configuration: 'folder' };

/** Where files lie. */
export const LocationFields = ({ form }: { form: UseFormReturnType<LocationValues> }) => (
  <Section title="Where files lie" lead="Shares name a location, and a path in it that is never left.">
    <TextInput label="Name" required withAsterisk={false} {...form.getInputProps('name')} />
    <TextInput label="Folder of this server" placeholder="/srv/files" required withAsterisk={false} {...form.getInputProps('folder')} />
    <Text size="sm" c="dimmed">
      Folders outside of Postern's own data are allowed by POSTERN_LOCAL_ROOTS. Amazon S3 and Azure Blob Storage are not available yet.
    </Text>
  </Section>
);
