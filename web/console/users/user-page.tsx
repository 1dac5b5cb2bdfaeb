import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '#console/api/call.ts';
import { DeleteDialog } from '#console/records/delete-dialog.tsx';
import { PageHead } from '#console/records/page-head.tsx';
import { RecordEditor, type RecordKind } from '#console/records/record-editor.tsx';
import { useRecordId } from '#console/records/record-id.ts';
import { StateWord } from '#console/records/state-word.tsx';
import { LoadFailed } from '#console/shell/load-failed.tsx';
import { useMay } from '#console/shell/who.ts';
import type { AccessUser } from '#core/records/access-user.ts';
import { PasswordDialog } from './password-dialog.tsx';
import { deletePeople } from './user-actions.ts';
import { PersonFields } from './user-fields.tsx';
import { differing, type PersonValues, personValues } from './user-values.ts';

const get = (id: number) => post<AccessUser>('accessuser/get', { id });

const people: RecordKind<AccessUser, PersonValues> = {
  kind: 'person',
  get,
  update: ({ id }, { username: _, password: __, ...values }, how) => post('accessuser/update', { id, ...values }, how),
  valuesOf: personValues,
  differing,
  // The shares that named them do so no more.
  undoable: (before, after) => before.authId === after.authId,
};

/** One person who signs in. */
export function PersonPage() {
  const id = useRecordId();
  const { data: person, error, refetch } = useQuery({ queryKey: ['person', 'one', id], queryFn: () => get(id) });
  const mayEdit = useMay('editor');
  if (error && !person) return <LoadFailed error={error} reset={() => void refetch()} />;
  if (!person) return <Skeleton height={320} />;
  return (
    <>
      <PageHead
        title={person.username}
        lead={<StateWord tone={person.active ? 'good' : 'over'}>{person.active ? 'Active' : 'Inactive'}</StateWord>}
      >
        {mayEdit && <Actions person={person} />}
      </PageHead>
      <RecordEditor key={person.id} of={people} record={person} readOnly={!mayEdit}>
        {(form) => <PersonFields form={form} isNew={false} />}
      </RecordEditor>
    </>
  );
}

function Actions({ person }: { person: AccessUser }) {
  const [asked, ask] = useState<'password' | 'delete' | null>(null);
  return (
    <>
      <Button variant="default" onClick={() => ask('password')}>
        Set a password
      </Button>
      <Button variant="default" onClick={() => ask('delete')}>
        Delete
      </Button>
      {asked === 'password' && <PasswordDialog person={person} close={() => ask(null)} />}
      {asked === 'delete' && (
        <DeleteDialog
          kind="person"
          of={['person', 'people']}
          action={deletePeople}
          record={person}
          nameOf={({ username }) => username}
          back="/people"
          close={() => ask(null)}
        />
      )}
    </>
  );
}
