import { Anchor, Button } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { get, post, type Query, remove } from '#console/api/call.ts';
import type { BulkAction } from '#console/components/bulk.ts';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordList } from '#console/components/record-list.tsx';
import type { Column } from '#console/components/record-table.tsx';
import { RelativeTime } from '#console/components/times.tsx';
import { useCaller } from '#console/shell/caller.ts';
import type { Operator } from '#core/records/operator.ts';
import { OperatorDialog } from './operator-dialog.tsx';
import { OperatorPasswordDialog } from './operator-password-dialog.tsx';
import { SettingsTabs } from './settings-tabs.tsx';

const load = (query: Query, signal: AbortSignal) => get('operator/search', query, signal);

const deleteOperators: BulkAction<Operator> = {
  name: 'Delete',
  effect: 'will be deleted and signed out at once. This cannot be undone',
  doneText: 'deleted',
  destructive: true,
  run: ({ id }, options) => remove('operator/delete', { id }, options),
};

const resetFactors: BulkAction<Operator> = {
  name: 'Remove second factors',
  effect:
    'will lose all second factors and be signed out at once. First make sure that the request for this really comes from the operator',
  doneText: 'can now sign in with the password alone, or must add a new second factor if the policy requires one',
  destructive: true,
  run: ({ id }, options) => post('operator/resetSecondFactors', { id }, options),
};

const unlinkProvider: BulkAction<Operator> = {
  name: 'Disconnect from provider',
  effect:
    'will be signed out, and disconnected from the user of the identity provider. An operator without a password then needs one. If the user is still in a group with access, the next sign-in at the provider creates a new operator',
  doneText: 'disconnected',
  destructive: true,
  run: ({ id }, options) => post('operator/unlinkProvider', { id }, options),
};

type OpenDialog = { readonly what: 'add' } | { readonly what: 'change' | 'password'; readonly operator: Operator } | null;

const columns = (open: (dialog: OpenDialog) => void): readonly Column<Operator>[] => [
  {
    name: 'Name',
    sort: 'name',
    cell: (operator) => (
      <Anchor component="button" type="button" fw={550} onClick={() => open({ what: 'change', operator })}>
        {operator.name}
      </Anchor>
    ),
  },
  { name: 'Role', sort: 'role', cell: ({ role, roleFromProvider }) => (roleFromProvider ? `${role} (from the provider)` : role) },
  { name: 'Second factor', cell: ({ hasSecondFactor }) => (hasSecondFactor ? 'yes' : 'no') },
  { name: 'Last sign-in', sort: 'lastSignInDateTime', cell: ({ lastSignInDateTime }) => <RelativeTime at={lastSignInDateTime} /> },
  {
    name: 'Password',
    cell: (operator) => (
      <Button
        variant="default"
        size="compact-sm"
        onClick={() => open({ what: 'password', operator })}
        aria-label={`Set password of ${operator.name}`}
      >
        Set password
      </Button>
    ),
  },
];

export function OperatorsPage() {
  const [dialog, open] = useState<OpenDialog>(null);
  const { id } = useCaller();
  const close = () => open(null);
  return (
    <>
      <PageHead title="Operators" lead="The accounts that can sign in to this console, and their roles.">
        <Button leftSection={<Plus size={18} aria-hidden />} onClick={() => open({ what: 'add' })}>
          Add operator
        </Button>
      </PageHead>
      <SettingsTabs at="/settings/operators" />
      <RecordList
        kind="operator"
        noun={['operator', 'operators']}
        columns={columns(open)}
        load={load}
        actions={[resetFactors, unlinkProvider, deleteOperators]}
        nameOf={({ name }) => name}
        searchLabel="Search by name"
        empty={null}
      />
      {dialog?.what === 'add' && <OperatorDialog operator={null} close={close} />}
      {dialog?.what === 'change' && <OperatorDialog operator={dialog.operator} close={close} />}
      {dialog?.what === 'password' && <OperatorPasswordDialog operator={dialog.operator} own={dialog.operator.id === id} close={close} />}
    </>
  );
}
