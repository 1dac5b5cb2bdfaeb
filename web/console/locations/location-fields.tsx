import { Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { changedFieldsBy } from '#console/components/record-editor.tsx';
import { Section } from '#console/components/section.tsx';
import type { Location } from '#core/records/location.ts';

/** The form values of a location. */
export interface LocationValues extends Record<string, unknown> {
  readonly name: string;
  readonly folder: string;
  /** The parts of the configuration that the form does not show. They are sent back unchanged. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** Returns the form values of a location. */
export function locationValuesOf({ name, configuration }: Location): LocationValues {
  const { folder, ...rest }: Record<string, unknown> = configuration === '' ? {} : JSON.parse(configuration);
  return { name, folder: typeof folder === 'string' ? folder : '', rest };
}

/** Returns the request body of location/add and location/update. */
export const locationBodyOf = ({ name, folder, rest }: LocationValues) => ({ name, configuration: JSON.stringify({ folder, ...rest }) });

export const changedLocationFields = changedFieldsBy<LocationValues>({ name: 'name', folder: 'folder' });

/** Returns the name of a kind of storage. */
export const storageKindName = (kind: string) => (kind === 'local' ? 'Folder on this server' : kind);

/** The form's field for each API field that has another name. */
export const locationFieldNames = { configuration: 'folder' };

/** The fields of a location. */
export const LocationFields = ({ form }: { form: UseFormReturnType<LocationValues> }) => (
  <Section
    title="Where files are stored"
    lead="A share publishes one path of a location. Visitors cannot reach anything outside of that path."
  >
    <TextInput label="Name" required withAsterisk={false} {...form.getInputProps('name')} />
    <TextInput label={storageKindName('local')} placeholder="/srv/files" required withAsterisk={false} {...form.getInputProps('folder')} />
    <Text size="sm" c="dimmed">
      To use a folder outside of Postern's data folder, add it to POSTERN_LOCAL_ROOTS. Amazon S3 and Azure Blob Storage are not available
      yet.
    </Text>
  </Section>
);
