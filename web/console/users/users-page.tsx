import { Anchor, Button, Menu, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ChevronDown, Plus } from 'lucide-react';
import { useState } from 'react';
import { get, type Query } from '#console/api/call.ts';
import { EmptyState } from '#console/components/empty-state.tsx';
import { useListState } from '#console/components/list-state.ts';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordList } from '#console/components/record-list.tsx';
import type { Column } from '#console/components/record-table.tsx';
import { StateLabel } from '#console/components/state-label.tsx';
import { RelativeTime } from '#console/components/times.tsx';
import { ProfileSelect } from '#console/profiles/profile-select.tsx';
import { useHasRole } from '#console/shell/caller.ts';
import type { AccessUser } from '#core/records/access-user.ts';
import { ExportDialog } from './export-dialog.tsx';
import { activateUsers, deactivateUsers, deleteUsers } from './user-actions.ts';

const actions = [activateUsers, deactivateUsers, deleteUsers];
const load = (query: Query, signal: AbortSignal) => get('accessuser/search', query, signal);

const columns: readonly Column<AccessUser>[] = [
  {
    name: 'Name',
    sort: 'username',
    cell: ({ id, username, firstName, lastName }) => (
      <>
        <Anchor component={Link} to={`/users/${id}`} fw={550}>
          {username}
        </Anchor>
        <span className="second">{[firstName, lastName].filter(Boolean).join(' ')}</span>
      </>
    ),
  },
  { name: 'E-mail', sort: 'email', cell: ({ email }) => email },
  { name: 'Login profile', cell: ({ loginProfileName }) => loginProfileName },
  {
    name: 'State',
    sort: 'active',
    cell: ({ active }) => <StateLabel tone={active ? 'good' : 'inactive'}>{active ? 'Active' : 'Inactive'}</StateLabel>,
  },
  { name: 'Modified', sort: 'updateDateTime', cell: ({ updateDateTime }) => <RelativeTime at={updateDateTime} /> },
];

function Filters() {
  const { listState, setListState } = useListState();
  return (
    <>
      <Select
        aria-label="State"
        placeholder="Any state"
        clearable
        data={[
          { value: 'true', label: 'Active' },
          { value: 'false', label: 'Inactive' },
        ]}
        value={listState.active === undefined ? null : String(listState.active)}
        onChange={(active) => setListState({ active: active === null ? undefined : active === 'true' })}
      />
      <ProfileSelect
        label="Login profile"
        placeholder="Any login profile"
        value={listState.profile}
        onChange={(profile) => setListState({ profile })}
      />
    </>
  );
}

const AddButton = () => (
  <Button component={Link} to="/users/new" leftSection={<Plus size={18} aria-hidden />}>
    Add user
  </Button>
);

export function UsersPage() {
  const { listState } = useListState();
  const [exporting, setExporting] = useState(false);
  const isEditor = useHasRole('editor');
  const query = { authId: listState.profile, active: listState.active };
  return (
    <>
      <PageHead title="Access users" lead="Named people who can be given access to shares.">
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" rightSection={<ChevronDown size={16} aria-hidden />}>
              Import or export
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {isEditor && (
              <Menu.Item component={Link} to="/users/import">
                Import from CSV
              </Menu.Item>
            )}
            <Menu.Item onClick={() => setExporting(true)}>Export to CSV</Menu.Item>
          </Menu.Dropdown>
        </Menu>
        {isEditor && <AddButton />}
      </PageHead>
      <RecordList
        kind="user"
        noun={['user', 'users']}
        columns={columns}
        load={load}
        query={query}
        filters={<Filters />}
        actions={isEditor ? actions : []}
        nameOf={({ username }) => username}
        searchLabel="Search by name or e-mail"
        empty={
          <EmptyState
            title="No access users yet"
            text="Access users sign in with a user name and password, or with a code by e-mail. Add a user, or import users from a CSV file."
          >
            {isEditor && <AddButton />}
            {isEditor && (
              <Button component={Link} to="/users/import" variant="default">
                Import from CSV
              </Button>
            )}
          </EmptyState>
        }
      />
      {exporting && <ExportDialog query={{ ...query, searchWord: listState.q }} close={() => setExporting(false)} />}
    </>
  );
}
