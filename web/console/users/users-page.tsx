import { Anchor, Button, Menu, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ChevronDown, Plus } from 'lucide-react';
import { useState } from 'react';
import { get, type Page, type Query } from '#console/api/call.ts';
import { ProfileSelect } from '#console/profiles/profile-select.tsx';
import { EmptyState } from '#console/records/empty.tsx';
import { useListState } from '#console/records/list-state.ts';
import { RelativeTime } from '#console/records/moment.tsx';
import { PageHead } from '#console/records/page-head.tsx';
import { RecordList } from '#console/records/record-list.tsx';
import type { Column } from '#console/records/record-table.tsx';
import { StateLabel } from '#console/records/state-word.tsx';
import { useHasRole } from '#console/shell/who.ts';
import type { AccessUser } from '#core/records/access-user.ts';
import { ExportDialog } from './export-dialog.tsx';
import { deleteUsers, activateUsers, deactivateUsers } from './user-actions.ts';

const actions = [activateUsers, deactivateUsers, deleteUsers];
const load = (query: Query, signal: AbortSignal) => get<Page<AccessUser>>('accessuser/search', query, signal);

const columns: readonly Column<AccessUser>[] = [
  {
    name: 'Name',
    sort: 'username',
    cell: ({ id, username, firstName, lastName }) => (
      <>
        <Anchor component={Link} to={`/people/${id}`} fw={550}>
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
    cell: ({ active }) => <StateLabel tone={active ? 'good' : 'over'}>{active ? 'Active' : 'Inactive'}</StateLabel>,
  },
  { name: 'Changed', sort: 'updateDateTime', cell: ({ updateDateTime }) => <RelativeTime at={updateDateTime} /> },
];

function Filters() {
  const { shown, show } = useListState();
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
        value={shown.active === undefined ? null : String(shown.active)}
        onChange={(active) => show({ active: active === null ? undefined : active === 'true' })}
      />
      <ProfileSelect
        label="Login profile"
        placeholder="Any login profile"
        value={shown.profile}
        onChange={(profile) => show({ profile })}
      />
    </>
  );
}

const AddButton = () => (
  <Button component={Link} to="/people/new" leftSection={<Plus size={18} aria-hidden />}>
    New person
  </Button>
);

/** Access users: those who sign in with a name of their own. */
export function UsersPage() {
  const { shown } = useListState();
  const [exporting, setExporting] = useState(false);
  const mayEdit = useHasRole('editor');
  const query = { authId: shown.profile, active: shown.active };
  return (
    <>
      <PageHead title="People" lead="Those who sign in with a name of their own.">
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" rightSection={<ChevronDown size={16} aria-hidden />}>
              CSV
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {mayEdit && (
              <Menu.Item component={Link} to="/people/import">
                Import from CSV
              </Menu.Item>
            )}
            <Menu.Item onClick={() => setExporting(true)}>Export what is listed as CSV</Menu.Item>
          </Menu.Dropdown>
        </Menu>
        {mayEdit && <AddButton />}
      </PageHead>
      <RecordList
        kind="person"
        of={['person', 'people']}
        columns={columns}
        load={load}
        query={query}
        filters={<Filters />}
        actions={mayEdit ? actions : []}
        nameOf={({ username }) => username}
        searchLabel="Find by name or e-mail"
        empty={
          <EmptyState title="No people yet" words="People sign in by a login profile that asks for a name and a password.">
            {mayEdit && <AddButton />}
            {mayEdit && (
              <Button component={Link} to="/people/import" variant="default">
                Import from CSV
              </Button>
            )}
          </EmptyState>
        }
      />
      {exporting && <ExportDialog query={{ ...query, searchWord: shown.q }} close={() => setExporting(false)} />}
    </>
  );
}
