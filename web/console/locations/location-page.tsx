import { Anchor, Button, Group, List, Paper, Skeleton, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Check, X } from 'lucide-react';
import { useState } from 'react';
import { asProblem, post } from '#console/api/call.ts';
import { DeleteDialog } from '#console/components/delete-dialog.tsx';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordEditor, type RecordKind } from '#console/components/record-editor.tsx';
import { useRecordId } from '#console/components/record-id.ts';
import { useHasRole } from '#console/shell/caller.ts';
import { LoadError } from '#console/shell/load-error.tsx';
import type { Location } from '#core/records/location.ts';
import {
  changedLocationFields,
  LocationFields,
  type LocationValues,
  locationBodyOf,
  locationFieldNames,
  locationValuesOf,
} from './location-fields.tsx';
import { deleteLocations } from './locations-page.tsx';

const get = (id: number) => post('location/get', { id });

const locations: RecordKind<Location, LocationValues> = {
  kind: 'location',
  get,
  update: ({ id }, values, how) => post('location/update', { id, ...locationBodyOf(values) }, how),
  valuesOf: locationValuesOf,
  changedFields: changedLocationFields,
  fieldNames: locationFieldNames,
};

const stepLabels: Readonly<Record<string, string>> = { list: 'Reading the folder', write: 'Writing and deleting a test file' };

/** One location: its test and its settings. */
export function LocationPage() {
  const id = useRecordId();
  const isAdmin = useHasRole('admin');
  const { data: location, error, refetch } = useQuery({ queryKey: ['location', 'one', id], queryFn: () => get(id), enabled: isAdmin });
  if (!isAdmin) return <PageHead title="Location" lead="You need the role admin to view or change the settings of a location." />;
  if (error && !location) return <LoadError error={error} reset={() => void refetch()} />;
  if (!location) return <Skeleton height={320} />;
  return (
    <>
      <PageHead title={location.name} lead={location.kind}>
        <DeleteButton location={location} />
      </PageHead>
      <LocationTest key={location.etag} location={location} />
      <RecordEditor key={location.id} of={locations} record={location}>
        {(form) => <LocationFields form={form} />}
      </RecordEditor>
    </>
  );
}

/** Runs location/test and shows the result of each step. */
function LocationTest({ location: { id, name } }: { location: Location }) {
  const test = useMutation({ mutationFn: () => post('location/test', { id }) });
  return (
    <Paper withBorder className="panel" component="section" aria-labelledby="location-test">
      <Group justify="space-between">
        <Title order={2} size="h4" id="location-test">
          Location test
        </Title>
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          Run test
        </Button>
      </Group>
      {test.error && (
        <Text c="var(--loss)" role="alert">
          {asProblem(test.error).message}
        </Text>
      )}
      {test.data && (
        <List listStyleType="none" role="status" mt="sm">
          {test.data.tried.map(({ what, works, detail }) => (
            <List.Item
              key={what}
              icon={
                works ? (
                  <Check size={16} color="var(--done)" aria-label="Works:" />
                ) : (
                  <X size={16} color="var(--loss)" aria-label="Fails:" />
                )
              }
            >
              {stepLabels[what] ?? what}
              {detail && `: ${detail}`}
            </List.Item>
          ))}
        </List>
      )}
      <Anchor component={Link} to={`/shares?location=${encodeURIComponent(name)}`} size="sm" mt="sm">
        Show shares of this location
      </Anchor>
    </Paper>
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
          of={['location', 'locations']}
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
