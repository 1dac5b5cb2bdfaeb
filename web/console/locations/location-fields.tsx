import { Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { Section } from '#console/components/section.tsx';
import type { LocationValues } from './location-values.ts';

interface Props {
  readonly form: UseFormReturnType<LocationValues>;
}

const kindNames: Readonly<Record<string, string>> = { local: 'Folder on this server' };

/** Returns the name of a kind of storage. */
export const storageKindName = (kind: string) => kindNames[kind] ?? kind;

const Local = ({ form }: Props) => (
  <>
    <TextInput label={storageKindName('local')} placeholder="/srv/files" required withAsterisk={false} {...form.getInputProps('path')} />
    <Text size="sm" c="dimmed">
      To use another folder, allow it with POSTERN_LOCAL_ROOTS (for example 1:/srv/files), and restart Postern.
    </Text>
  </>
);

const fieldsByKind: Readonly<Record<string, (props: Props) => ReactNode>> = { local: Local };

/** The fields of a location. */
export function LocationFields({ form, isNew = false }: Props & { readonly isNew?: boolean }) {
  const Fields = fieldsByKind[form.values.kind];
  return (
    <Section
      title="Where files are stored"
      lead="A share publishes one path of a location. Visitors cannot reach anything outside of that path."
    >
      <TextInput label="Name" required withAsterisk={false} {...form.getInputProps('name')} />
      {Fields && <Fields form={form} />}
      {isNew && (
        <Text size="sm" c="dimmed">
          Amazon S3, Azure Blob Storage, SFTP and WebDAV are not available yet.
        </Text>
      )}
    </Section>
  );
}
