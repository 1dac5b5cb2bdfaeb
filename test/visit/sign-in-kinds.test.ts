import { profileTypes } from '#core/records/login-profile.ts';
import { createUsersProfile } from '../start.ts';
import { type CreateVisitor, passwordKindContract } from './sign-in-kinds.contract.ts';

const password = 'correct horse battery';

const createPasswordVisitor: CreateVisitor = async ({ call }) => {
  const { id } = await call('loginprofile/add', { title: 'Door', typeId: profileTypes.PASSWORD, username: 'guest', password });
  const right = { username: 'guest', password };
  const update = (change: object) => call('loginprofile/update', { id, ...change });
  return {
    profileId: id,
    credentials: right,
    wrongCredentials: [
      { username: 'guest', password: 'wrong' },
      { username: 'guest', password: '' },
      { username: 'other', password },
    ],
    otherCredentials: null,
    async rename() {
      await update({ username: 'friend' });
      return { ...right, username: 'friend' };
    },
    endings: {
      'a new password of the profile': () => update({ password: 'open barley door' }),
      'a new user name of the profile': () => update({ username: 'friend' }),
      'a new type of the profile': () => update({ typeId: profileTypes.USERS }),
    },
  };
};

const createUser: CreateVisitor = async (postern) => {
  const { id: profileId, users } = await createUsersProfile(postern, ['ann', 'bob']);
  const { call, ports } = postern;
  const ann = users['ann'];
  const right = { username: 'Ann', password };
  return {
    profileId,
    credentials: right,
    wrongCredentials: [
      { username: 'ann', password: 'wrong' },
      { username: 'ann', password: '' },
      { username: 'nobody', password },
    ],
    otherCredentials: { username: 'bob', password },
    async rename() {
      const name = { username: 'anna', username_key: 'anna' };
      await ports.store.write((tx) => tx.updateTable('access_user').set(name).where('id', '=', Number(ann)).execute(), { tenant: 1 });
      return { ...right, username: 'anna' };
    },
    endings: {
      'the deletion of the user': () => call('accessuser/delete', { id: ann }),
      'the deactivation of the user': () => call('accessuser/update', { id: ann, authId: profileId, active: false }),
      'a move of the user to another profile': async () =>
        call('accessuser/update', { id: ann, authId: (await createUsersProfile(postern, [])).id }),
      'a new viewId of the profile': () => call('loginprofile/updateViewId', { id: profileId }),
    },
  };
};

passwordKindContract('PASSWORD', createPasswordVisitor, {
  endings: ['a new password of the profile', 'a new user name of the profile', 'a new type of the profile'],
  hasOwnPassword: false,
});
passwordKindContract('USERS', createUser, {
  endings: [
    'the deletion of the user',
    'the deactivation of the user',
    'a move of the user to another profile',
    'a new viewId of the profile',
  ],
  hasOwnPassword: true,
});
