import { Button, Code } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { get, type Query, remove } from '#console/api/call.ts';
import type { BulkAction } from '#console/components/bulk.ts';
import { EmptyState } from '#console/components/empty-state.tsx';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordList } from '#console/components/record-list.tsx';
import type { Column } from '#console/components/record-table.tsx';
import { EndTime, RelativeTime } from '#console/components/times.tsx';
import type { ApiKey } from '#core/records/api-key.ts';
import { AddKeyDialog } from './add-key-dialog.tsx';
import { SettingsTabs } from './settings-tabs.tsx';

const load = (query: Query, signal: AbortSignal) => get('apikey/search', query, signal);

const deleteKeys: BulkAction<ApiKey> = {
  name: 'Delete',
  effect: 'will be deleted and stop working at once, including issued tokens. This cannot be undone',
  doneText: 'deleted',
  destructive: true,
  warning: (keys) => {
    const recentlyUsed = keys.filter(
      ({ lastUsedDateTime }) => lastUsedDateTime && Date.now() - Date.parse(lastUsedDateTime) < 7 * 86_400_000,
    );
    return recentlyUsed.length > 0 ? `Used in the last 7 days: ${recentlyUsed.map(({ name }) => name).join(', ')}.` : '';
  },
  run: ({ id }, options) => remove('apikey/delete', { id }, options),
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
  { name: 'Expires', sort: 'expiryDateTime', cell: ({ expiryDateTime }) => <EndTime at={expiryDateTime} never="never" /> },
  { name: 'Last used', sort: 'lastUsedDateTime', cell: ({ lastUsedDateTime }) => <RelativeTime at={lastUsedDateTime} /> },
  { name: 'Created by', sort: 'createdOwner', cell: ({ createdOwner }) => createdOwner },
];

export function KeysPage() {
  const [adding, setAdding] = useState(false);
  const addButton = (
    <Button leftSection={<Plus size={18} aria-hidden />} onClick={() => setAdding(true)}>
      Create API key
    </Button>
  );
  return (
    <>
      <PageHead title="API keys" lead="Programs use API keys to call the REST API. The role of a key determines what it can do.">
        {addButton}
      </PageHead>
      <SettingsTabs at="/settings/keys" />
      <RecordList
        kind="key"
        noun={['API key', 'API keys']}
        columns={columns}
        load={load}
        actions={[deleteKeys]}
        nameOf={({ name }) => name}
        searchLabel="Search by name"
        empty={
          <EmptyState title="No API keys yet" text="A program needs an API key to call the REST API.">
            {addButton}
          </EmptyState>
        }
      />
      {adding && <AddKeyDialog close={() => setAdding(false)} />}
    </>
  );
}
