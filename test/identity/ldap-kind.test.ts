import { missingForDirectory, startDirectory } from '../parts/debian-directory.ts';
import { type CreateVisitor, passwordKindContract } from '../visit/sign-in-kinds.contract.ts';

const createVisitor: CreateVisitor = async ({ call }, t) => {
  const directory = await startDirectory(t);
  const { id } = await call('loginprofile/add', {
    ...{ title: 'Staff', typeId: 7 },
    configuration: JSON.stringify(directory.configuration),
  });
  const update = (change: object) =>
    call('loginprofile/update', { id, configuration: JSON.stringify({ ...directory.configuration, ...change }) });
  const right = { username: 'ann', password: 'ann-secret' };
  return {
    profileId: id,
    credentials: right,
    wrongCredentials: [
      { username: 'ann', password: 'bob-secret' },
      { username: 'ann', password: '' },
      { username: 'nobody', password: 'ann-secret' },
      { username: '*', password: 'ann-secret' },
    ],
    otherCredentials: { username: 'bob', password: 'bob-secret' },
    async rename() {
      await directory.rename('uid=ann,ou=people,dc=test', 'uid=anna');
      return { ...right, username: 'anna' };
    },
    endings: {
      'another base DN': () => update({ baseDn: 'ou=people,dc=test' }),
      'another user filter': () => update({ userFilter: '(mail={username})' }),
      'a required group': () => update({ requireGroup: 'editors' }),
    },
  };
};

passwordKindContract('LDAP', createVisitor, {
  endings: ['another base DN', 'another user filter', 'a required group'],
  hasOwnPassword: false,
  environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' },
  missing: missingForDirectory(),
});
