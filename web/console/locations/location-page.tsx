import { Anchor, Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { post } from '#console/api/call.ts';
import { withConfigurationErrors } from '#console/components/configuration-errors.ts';
import { DeleteDialog } from '#console/components/delete-dialog.tsx';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordEditor, type RecordKind } from '#console/components/record-editor.tsx';
import { useRecordId } from '#console/components/record-id.ts';
import { TestPanel } from '#console/components/test-panel.tsx';
import { useHasRole } from '#console/shell/caller.ts';
import { LoadError } from '#console/shell/load-error.tsx';
import type { Location } from '#core/records/location.ts';
import { locationSecrets } from '#core/records/location-configurations.ts';
import { LocationFields, storageKindName } from './location-fields.tsx';
import { changedLocationFields, type LocationValues, locationBodyOf, locationValuesOf, mainFieldOf } from './location-values.ts';
import { deleteLocations } from './locations-page.tsx';
import { usedSpaceText } from './used-space.ts';

const get = (id: number) => post('location/get', { id });

const locations: RecordKind<Location, LocationValues> = {
  kind: 'location',
  get,
  update: ({ id }, values, options) =>
    withConfigurationErrors(values, post('location/update', { id, ...locationBodyOf(values) }, options), mainFieldOf(values)),
  valuesOf: locationValuesOf,
  changedFields: changedLocationFields,
  // A replaced secret cannot be restored: nobody can read the old one.
  undoable: (before, after) => locationSecrets.every((name) => before[name] === after[name]),
};

const stepLabels: Readonly<Record<string, string>> = {
  connect: 'Connect',
  signIn: 'Sign in',
  list: 'List the root',
  write: 'Write a test file',
  read: 'Read the test file',
  conditions: 'Write only if the name is free',
  remove: 'Delete the test file',
};

export function LocationPage() {
  const id = useRecordId();
  const isAdmin = useHasRole('admin');
  const { data: location, error, refetch } = useQuery({ queryKey: ['location', 'one', id], queryFn: () => get(id), enabled: isAdmin });
  if (!isAdmin) return <PageHead title="Location" lead="You need the role admin to view or change the settings of a location." />;
  if (error && !location) return <LoadError error={error} reset={() => void refetch()} />;
  if (!location) return <Skeleton height={320} />;
  return (
    <>
      <PageHead title={location.name} lead={`${storageKindName(location.kind)}. ${usedSpaceText(location)}.`}>
        <DeleteButton location={location} />
      </PageHead>
      <LocationTest key={location.etag} location={location} />
      <RecordEditor key={location.id} recordKind={locations} record={location}>
        {(form) => <LocationFields form={form} />}
      </RecordEditor>
    </>
  );
}

function LocationTest({ location: { id, name } }: { location: Location }) {
  return (
    <TestPanel id="location-test" title="Location test" run={() => post('location/test', { id })} labels={stepLabels}>
      <Anchor component={Link} to={`/shares?location=${encodeURIComponent(name)}`} size="sm" mt="sm">
        Show shares of this location
      </Anchor>
    </TestPanel>
  );
}

function DeleteButton({ location }: { location: Location }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Delete location
      </Button>
      {isOpen && (
        <DeleteDialog
          kind="location"
          noun={['location', 'locations']}
          action={deleteLocations}
          record={location}
          nameOf={({ name }) => name}
          listPath="/locations"
          close={() => setOpen(false)}
        />
      )}
    </>
  );
}
