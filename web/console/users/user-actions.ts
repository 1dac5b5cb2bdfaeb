import { post, remove } from '#console/api/call.ts';
import type { BulkAction } from '#console/records/bulk.ts';
import type { AccessUser } from '#core/records/access-user.ts';

const setActive = (active: boolean) => (person: AccessUser, how: object) =>
  post('accessuser/update', { id: person.id, authId: person.authId, active }, how);

export const activateUsers: BulkAction<AccessUser> = {
  name: 'Activate',
  effect: 'will be able to sign in',
  doneText: 'activated',
  run: setActive(true),
  undo: (person) => setActive(person.active)(person, {}),
};

export const deactivateUsers: BulkAction<AccessUser> = {
  name: 'Deactivate',
  effect: 'will not be able to sign in; whoever is signed in is signed out at once',
  doneText: 'deactivated',
  run: setActive(false),
  undo: (person) => setActive(person.active)(person, {}),
};

export const deleteUsers: BulkAction<AccessUser> = {
  name: 'Delete',
  effect: 'will be deleted, and leave every share that names them. This cannot be undone',
  doneText: 'deleted',
  destructive: true,
  run: ({ id }, how) => remove('accessuser/delete', { id }, how),
};
