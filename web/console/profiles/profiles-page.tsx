import { Anchor, Badge, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { get, type Query, remove } from '#console/api/call.ts';
import type { BulkAction } from '#console/components/bulk.ts';
import { EmptyState } from '#console/components/empty-state.tsx';
import { formatNumber } from '#console/components/format.ts';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordList } from '#console/components/record-list.tsx';
import type { Column } from '#console/components/record-table.tsx';
import { RelativeTime } from '#console/components/times.tsx';
import { defaultProfile } from '#console/shares/share-queries.ts';
import { useHasRole } from '#console/shell/caller.ts';
import { hasAccessUsers, type LoginProfile } from '#core/records/login-profile.ts';
import { signInKindLabels } from './kinds.ts';

const load = (query: Query, signal: AbortSignal) => get('loginprofile/search', query, signal);

export const deleteProfiles: BulkAction<LoginProfile> = {
  name: 'Delete',
  effect: 'will be deleted. This cannot be undone',
  doneText: 'deleted',
  destructive: true,
  run: ({ id }, options) => remove('loginprofile/delete', { id }, options),
};

const columns = (defaultId: number | undefined): readonly Column<LoginProfile>[] => [
  {
    name: 'Title',
    sort: 'title',
    cell: ({ id, title, description }) => (
      <>
        <Anchor component={Link} to={`/profiles/${id}`} fw={550}>
          {title}
        </Anchor>{' '}
        {id === defaultId && (
          <Badge variant="light" size="sm">
            Default
          </Badge>
        )}
        <span className="second">{description}</span>
      </>
    ),
  },
  { name: 'Sign-in', sort: 'typeId', cell: ({ typeString }) => signInKindLabels[typeString]?.name ?? typeString },
  { name: 'Shares', cell: ({ shareCount }) => formatNumber(shareCount) },
  { name: 'Users', cell: ({ typeId, userCount }) => (hasAccessUsers(typeId) ? formatNumber(userCount) : '–') },
  { name: 'Allowed IP addresses', cell: ({ ipRange }) => (ipRange.trim() === '' ? 'all' : 'restricted') },
  { name: 'Modified', sort: 'updateDateTime', cell: ({ updateDateTime }) => <RelativeTime at={updateDateTime} /> },
];

const AddButton = () => (
  <Button component={Link} to="/profiles/new" leftSection={<Plus size={18} aria-hidden />}>
    Create login profile
  </Button>
);

export function ProfilesPage() {
  const isAdmin = useHasRole('admin');
  const { data: currentDefault } = useQuery(defaultProfile);
  return (
    <>
      <PageHead title="Login profiles" lead="How visitors sign in, and from which IP addresses.">
        {isAdmin && <AddButton />}
      </PageHead>
      <RecordList
        kind="profile"
        noun={['login profile', 'login profiles']}
        columns={columns(currentDefault?.id)}
        load={load}
        actions={isAdmin ? [deleteProfiles] : []}
        nameOf={({ title }) => title}
        searchLabel="Search by title or description"
        empty={<EmptyState title="No login profiles" text="A login profile determines how visitors sign in." />}
      />
    </>
  );
}
