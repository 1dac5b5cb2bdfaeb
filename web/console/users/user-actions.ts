import { post, remove } from '#console/api/call.ts';
import type { BulkAction } from '#console/records/bulk.ts';
import type { AccessUser } from '#core/records/access-user.ts';

const setActive = (active: boolean) => (person: AccessUser, how: object) =>
  post('accessuser/update', { id: person.id, authId: person.authId, active }, how);

export const letIn: BulkAction<AccessUser> = {
  name: 'Activate',
  does: 'will be able to sign in',
  done: 'activated',
  run: setActive(true),
  undo: (person) => setActive(person.active)(person, {}),
};

export const shutOut: BulkAction<AccessUser> = {
  name: 'Deactivate',
  does: 'will not be able to sign in; whoever is signed in is signed out at once',
  done: 'deactivated',
  run: setActive(false),
  undo: (person) => setActive(person.active)(person, {}),
};

export const deletePeople: BulkAction<AccessUser> = {
  name: 'Delete',
  does: 'will be deleted, and leave every share that names them. This cannot be undone',
  done: 'deleted',
  loss: true,
  run: ({ id }, how) => remove('accessuser/delete', { id }, how),
};
