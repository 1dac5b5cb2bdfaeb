import { Alert, Button, Group, Select, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { FolderSearch } from 'lucide-react';
import { useState } from 'react';
import { PathPicker } from './path-picker.tsx';
import { locationChoices } from './share-queries.ts';
import type { ShareValues } from './share-values.ts';

const lastName = (path: string) => path.split('/').filter(Boolean).at(-1) ?? '';

/** The fields for the file or folder of a share. @param fixed true: the share exists, so another file or folder cannot be chosen */
export function PathFields({ form, fixed }: { form: UseFormReturnType<ShareValues>; fixed: boolean }) {
  const [isPickerOpen, setPickerOpen] = useState(false);
  const { data: locations = [], isSuccess } = useQuery(locationChoices);
  const { location, path, folder, title } = form.values;
  if (fixed)
    return (
      <Text>
        {folder ? 'Folder' : 'File'} <b>{path}</b> in location "{location}". To share something else, create another share.
      </Text>
    );
  return (
    <>
      {isSuccess && locations.length === 0 && <Alert color="red">There is no location yet. An admin can add one under Locations.</Alert>}
      {locations.length > 1 && (
        <Select
          label="Location"
          data={locations.map(({ name }) => name)}
          allowDeselect={false}
          searchable
          {...form.getInputProps('location')}
          onChange={(name) => form.setValues({ location: name ?? '', path: '' })}
        />
      )}
      <Group align="end" wrap="nowrap">
        <TextInput
          className="grow"
          label="File or folder"
          placeholder="/reports"
          required
          withAsterisk={false}
          {...form.getInputProps('path')}
          error={form.errors['path'] ?? form.errors['folder'] ?? form.errors['location']}
        />
        <Button
          variant="default"
          leftSection={<FolderSearch size={18} aria-hidden />}
          onClick={() => setPickerOpen(true)}
          disabled={!location}
        >
          Browse files
        </Button>
      </Group>
      {isPickerOpen && (
        <PathPicker
          location={location}
          initialPath={folder && path.startsWith('/') ? path : '/'}
          close={() => setPickerOpen(false)}
          choose={(chosen) => {
            setPickerOpen(false);
            form.setValues({ ...chosen, ...(title === '' ? { title: lastName(chosen.path) } : {}) });
          }}
        />
      )}
    </>
  );
}
