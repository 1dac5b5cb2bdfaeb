import { Anchor, Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { get, type Query, remove } from '#console/api/call.ts';
import type { BulkAction } from '#console/components/bulk.ts';
import { EmptyState } from '#console/components/empty-state.tsx';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordList } from '#console/components/record-list.tsx';
import type { Column } from '#console/components/record-table.tsx';
import { RelativeTime } from '#console/components/times.tsx';
import { useHasRole } from '#console/shell/caller.ts';
import type { Location } from '#core/records/location.ts';
import { storageKindName } from './location-fields.tsx';
import { usedSpaceText } from './used-space.ts';

const load = (query: Query, signal: AbortSignal) => get('location/search', query, signal);

export const deleteLocations: BulkAction<Location> = {
  name: 'Delete',
  effect: 'will be deleted. The files stay. This cannot be undone',
  doneText: 'deleted',
  destructive: true,
  run: ({ id }, options) => remove('location/delete', { id }, options),
};

const columns: readonly Column<Location>[] = [
  {
    name: 'Name',
    sort: 'name',
    cell: ({ id, name }) => (
      <Anchor component={Link} to={`/locations/${id}`} fw={550}>
        {name}
      </Anchor>
    ),
  },
  { name: 'Kind', sort: 'kind', cell: ({ kind }) => storageKindName(kind) },
  { name: 'Used', cell: usedSpaceText },
  { name: 'Created by', sort: 'createdOwner', cell: ({ createdOwner }) => createdOwner },
  { name: 'Modified', sort: 'updateDateTime', cell: ({ updateDateTime }) => <RelativeTime at={updateDateTime} /> },
];

const AddButton = () => (
  <Button component={Link} to="/locations/new" leftSection={<Plus size={18} aria-hidden />}>
    Add location
  </Button>
);

export function LocationsPage() {
  const isAdmin = useHasRole('admin');
  return (
    <>
      <PageHead title="Locations" lead="Where the shared files are stored.">
        {isAdmin && <AddButton />}
      </PageHead>
      <RecordList
        kind="location"
        noun={['location', 'locations']}
        columns={columns}
        load={load}
        actions={isAdmin ? [deleteLocations] : []}
        nameOf={({ name }) => name}
        searchLabel="Search by name"
        empty={
          <EmptyState
            title="No locations yet"
            text="A location is storage for files, such as a folder on this server. Add one, then share a file or folder in it."
          >
            {isAdmin && <AddButton />}
          </EmptyState>
        }
      />
    </>
  );
}
