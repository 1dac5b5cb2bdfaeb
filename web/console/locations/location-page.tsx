import { Anchor, Button, Group, List, Paper, Skeleton, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Check, X } from 'lucide-react';
import { useState } from 'react';
import { asProblem, post } from '#console/api/call.ts';
import { DeleteDialog } from '#console/records/delete-dialog.tsx';
import { PageHead } from '#console/records/page-head.tsx';
import { RecordEditor, type RecordKind } from '#console/records/record-editor.tsx';
import { useRecordId } from '#console/records/record-id.ts';
import { LoadFailed } from '#console/shell/load-failed.tsx';
import { useMay } from '#console/shell/who.ts';
import type { Location } from '#core/records/location.ts';
import { bodyOf, differing, fieldNames, LocationFields, type LocationValues, valuesOf } from './location-fields.tsx';
import { deleteLocations } from './locations-page.tsx';

const get = (id: number) => post<Location>('location/get', { id });

const locations: RecordKind<Location, LocationValues> = {
  kind: 'location',
  get,
  update: ({ id }, values, how) => post('location/update', { id, ...bodyOf(values) }, how),
  valuesOf,
  differing,
  names: fieldNames,
};

interface Tried {
  readonly tried: readonly { readonly what: string; readonly works: boolean; readonly detail: string }[];
}
const attempts: Readonly<Record<string, string>> = { list: 'Reading the folder', write: 'Writing a file, and taking it back' };

/** One place with files: whether it works, and where it is. */
export function LocationPage() {
  const id = useRecordId();
  const mayAll = useMay('admin');
  const { data: location, error, refetch } = useQuery({ queryKey: ['location', 'one', id], queryFn: () => get(id), enabled: mayAll });
  if (!mayAll) return <PageHead title="Location" lead="An admin can look at it and change it." />;
  if (error && !location) return <LoadFailed error={error} reset={() => void refetch()} />;
  if (!location) return <Skeleton height={320} />;
  return (
    <>
      <PageHead title={location.name} lead={location.kind}>
        <DeleteButton location={location} />
      </PageHead>
      <Trial key={location.etag} location={location} />
      <RecordEditor key={location.id} of={locations} record={location}>
        {(form) => <LocationFields form={form} />}
      </RecordEditor>
    </>
  );
}

/** Tries the place for real. */
function Trial({ location: { id, name } }: { location: Location }) {
  const trial = useMutation({ mutationFn: () => post<Tried>('location/test', { id }) });
  return (
    <Paper withBorder className="panel" component="section" aria-labelledby="trial">
      <Group justify="space-between">
        <Title order={2} size="h4" id="trial">
          Does it work?
        </Title>
        <Button variant="default" loading={trial.isPending} onClick={() => trial.mutate()}>
          Try it
        </Button>
      </Group>
      {trial.error && (
        <Text c="var(--loss)" role="alert">
          {asProblem(trial.error).message}
        </Text>
      )}
      {trial.data && (
        <List listStyleType="none" role="status" mt="sm">
          {trial.data.tried.map(({ what, works, detail }) => (
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
              {attempts[what] ?? what}
              {detail && `: ${detail}`}
            </List.Item>
          ))}
        </List>
      )}
      <Anchor component={Link} to={`/shares?location=${encodeURIComponent(name)}`} size="sm" mt="sm">
        Shares of this location
      </Anchor>
    </Paper>
  );
}

function DeleteButton({ location }: { location: Location }) {
  const [asked, ask] = useState(false);
  return (
    <>
      <Button variant="default" onClick={() => ask(true)}>
        Delete
      </Button>
      {asked && (
        <DeleteDialog
          kind="location"
          of={['location', 'locations']}
          action={deleteLocations}
          record={location}
          nameOf={({ name }) => name}
          back="/locations"
          close={() => ask(false)}
        />
      )}
    </>
  );
}
