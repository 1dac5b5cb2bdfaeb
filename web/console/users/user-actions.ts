import { post, remove } from '#console/api/call.ts';
import type { BulkAction } from '#console/components/bulk.ts';
import type { AccessUser } from '#core/records/access-user.ts';

const setActive = (active: boolean) => (user: AccessUser, options: object) =>
  post('accessuser/update', { id: user.id, authId: user.authId, active }, options);

export const activateUsers: BulkAction<AccessUser> = {
  name: 'Activate',
  effect: 'will be able to sign in',
  doneText: 'activated',
  run: setActive(true),
  undo: (user) => setActive(user.active)(user, {}),
};

export const deactivateUsers: BulkAction<AccessUser> = {
  name: 'Deactivate',
  effect: 'will not be able to sign in. Open sessions end at once',
  doneText: 'deactivated',
  run: setActive(false),
  undo: (user) => setActive(user.active)(user, {}),
};

export const deleteUsers: BulkAction<AccessUser> = {
  name: 'Delete',
  effect:
    'will be deleted. Shares with the sign-in method "Users with passwords" no longer list them. Other shares keep the user names in their lists: a new user with such a name or e-mail address will have access to those shares. This cannot be undone',
  doneText: 'deleted',
  destructive: true,
  run: ({ id }, options) => remove('accessuser/delete', { id }, options),
};
