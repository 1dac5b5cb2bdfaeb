import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '#console/api/call.ts';
import { DeleteDialog } from '#console/components/delete-dialog.tsx';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordEditor, type RecordKind } from '#console/components/record-editor.tsx';
import { useRecordId } from '#console/components/record-id.ts';
import { StateLabel } from '#console/components/state-label.tsx';
import { useHasRole } from '#console/shell/caller.ts';
import { LoadError } from '#console/shell/load-error.tsx';
import type { AccessUser } from '#core/records/access-user.ts';
import { PasswordDialog } from './password-dialog.tsx';
import { deleteUsers } from './user-actions.ts';
import { UserFields } from './user-fields.tsx';
import { changedUserFields, type UserValues, userValuesOf } from './user-values.ts';

const get = (id: number) => post('accessuser/get', { id });

const users: RecordKind<AccessUser, UserValues> = {
  kind: 'user',
  get,
  update: ({ id }, { username: _, password: __, ...values }, options) => post('accessuser/update', { id, ...values }, options),
  valuesOf: userValuesOf,
  changedFields: changedUserFields,
  // A change of the login profile removes the user from `userNames` of shares whose profile has the type USERS. An undo
  // would not restore that.
  undoable: (before, after) => before.authId === after.authId,
};

export function UserPage() {
  const id = useRecordId();
  const { data: user, error, refetch } = useQuery({ queryKey: ['user', 'one', id], queryFn: () => get(id) });
  const isEditor = useHasRole('editor');
  if (error && !user) return <LoadError error={error} reset={() => void refetch()} />;
  if (!user) return <Skeleton height={320} />;
  return (
    <>
      <PageHead
        title={user.username}
        lead={<StateLabel tone={user.active ? 'good' : 'inactive'}>{user.active ? 'Active' : 'Inactive'}</StateLabel>}
      >
        {isEditor && <Actions user={user} />}
      </PageHead>
      <RecordEditor key={user.id} recordKind={users} record={user} readOnly={!isEditor}>
        {(form) => <UserFields form={form} isNew={false} />}
      </RecordEditor>
    </>
  );
}

function Actions({ user }: { user: AccessUser }) {
  const [openDialog, setOpenDialog] = useState<'password' | 'delete' | null>(null);
  return (
    <>
      <Button variant="default" onClick={() => setOpenDialog('password')}>
        Set password
      </Button>
      <Button variant="default" onClick={() => setOpenDialog('delete')}>
        Delete user
      </Button>
      {openDialog === 'password' && <PasswordDialog user={user} close={() => setOpenDialog(null)} />}
      {openDialog === 'delete' && (
        <DeleteDialog
          kind="user"
          noun={['user', 'users']}
          action={deleteUsers}
          record={user}
          nameOf={({ username }) => username}
          listPath="/users"
          close={() => setOpenDialog(null)}
        />
      )}
    </>
  );
}
