import { Button, Code } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { get, type Page, type Query, remove } from '#console/api/call.ts';
import type { BulkAction } from '#console/records/bulk.ts';
import { EmptyState } from '#console/records/empty.tsx';
import { RelativeTime, EndTime } from '#console/records/moment.tsx';
import { PageHead } from '#console/records/page-head.tsx';
import { RecordList } from '#console/records/record-list.tsx';
import type { Column } from '#console/records/record-table.tsx';
import type { ApiKey } from '#core/records/api-key.ts';
import { AddKeyDialog } from './add-key-dialog.tsx';
import { SettingsTabs } from './settings-tabs.tsx';

const load = (query: Query, signal: AbortSignal) => get<Page<ApiKey>>('apikey/search', query, signal);

const deleteKeys: BulkAction<ApiKey> = {
  name: 'Delete',
  effect: 'will end at once, and its tokens with it. This cannot be undone',
  doneText: 'deleted',
  destructive: true,
  warning: (keys) => {
    const recentlyUsed = keys.filter(({ lastUsedDateTime }) => lastUsedDateTime && Date.now() - Date.parse(lastUsedDateTime) < 7 * 86_400_000);
    return recentlyUsed.length > 0 ? `Used within a week: ${recentlyUsed.map(({ name }) => name).join(', ')}.` : '';
  },
  run: ({ id }, how) => remove('apikey/delete', { id }, how),
};

const columns: readonly Column<ApiKey>[] = [
  {
    name: 'Name',
    sort: 'name',
    cell: ({ name, firstCharacters }) => (
      <>
        <b>{name}</b>
        <span className="second">
          <Code>{firstCharacters}…</Code>
        </span>
      </>
    ),
  },
  { name: 'Role', sort: 'role', cell: ({ role }) => role },
  { name: 'Ends', sort: 'expiryDateTime', cell: ({ expiryDateTime }) => <EndTime at={expiryDateTime} never="never" /> },
  { name: 'Last used', sort: 'lastUsedDateTime', cell: ({ lastUsedDateTime }) => <RelativeTime at={lastUsedDateTime} /> },
  { name: 'Made by', sort: 'createdOwner', cell: ({ createdOwner }) => createdOwner },
];

/** Keys of programs. */
export function KeysPage() {
  const [adding, setAdding] = useState(false);
  const addButton = (
    <Button leftSection={<Plus size={18} aria-hidden />} onClick={() => setAdding(true)}>
      New key
    </Button>
  );
  return (
    <>
      <PageHead title="API keys" lead="For programs. What a key may do, its role says.">
        {addButton}
      </PageHead>
      <SettingsTabs at="/settings/keys" />
      <RecordList
        kind="key"
        of={['key', 'keys']}
        columns={columns}
        load={load}
        actions={[deleteKeys]}
        nameOf={({ name }) => name}
        searchLabel="Find by name"
        empty={
          <EmptyState title="No keys" words="A program needs a key to call the interface.">
            {addButton}
          </EmptyState>
        }
      />
      {adding && <AddKeyDialog close={() => setAdding(false)} />}
    </>
  );
}
