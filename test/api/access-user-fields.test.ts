import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, startPostern, type TestPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

const textFields = [
  { name: 'firstName', added: 'Ann', updated: 'Anna' },
  { name: 'lastName', added: 'Example', updated: 'Sample' },
  { name: 'email', added: 'ann@example.com', updated: 'anna@example.com' },
];
const changeableFields = [...textFields, { name: 'active', added: true, updated: false }];
const fieldNames = [
  'id',
  'username',
  'firstName',
  'lastName',
  'email',
  'authId',
  'createdOwner',
  'updatedOwner',
  'createDateTime',
  'updateDateTime',
  'loginProfileName',
  'authTypeId',
  'authTypeStr',
  'active',
];

async function addUser(postern: TestPostern) {
  const profile = await postern.call('loginprofile/add', { title: 'Clients' });
  const body = { username: 'ann', authId: profile.id, ...Object.fromEntries(changeableFields.map(({ name, added }) => [name, added])) };
  const { id } = await postern.call('accessuser/add', body);
  return { id, profile, user: await userOf(postern, id) };
}

const userOf = async (postern: TestPostern, id: number): Promise<Json> =>
  (await postern.call('accessuser/search')).list.find((record: Json) => record.id === id);

test('accessuser/search returns every field of an access user and its etag', async (t) => {
  const postern = await startPostern(t);
  const { user, profile, id } = await addUser(postern);
  const { createDateTime, updateDateTime, etag, ...rest } = user;
  assert.deepEqual(Object.keys(user).sort(), [...fieldNames, 'etag'].sort());
  assert.deepEqual(rest, {
    id,
    username: 'ann',
    firstName: 'Ann',
    lastName: 'Example',
    email: 'ann@example.com',
    authId: profile.id,
    createdOwner: 'environment',
    updatedOwner: 'environment',
    loginProfileName: 'Clients',
    authTypeId: 3,
    authTypeStr: 'USERS',
    active: true,
  });
  for (const time of [createDateTime, updateDateTime]) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(typeof etag, 'string');
});

for (const { name, updated } of changeableFields)
  test(`accessuser/update changes ${name} and nothing else`, async (t) => {
    const postern = await startPostern(t);
    const { id, user } = await addUser(postern);

    await postern.call('accessuser/update', { id, authId: user.authId, [name]: updated });

    const after = await userOf(postern, id);
    assert.deepEqual({ ...after, etag: '', updateDateTime: '' }, { ...user, [name]: updated, etag: '', updateDateTime: '' });
    assert.notEqual(after.etag, user.etag);
  });

for (const { name } of textFields)
  for (const emptyValue of [null, ''])
    test(`accessuser/update with ${JSON.stringify(emptyValue)} clears ${name}`, async (t) => {
      const postern = await startPostern(t);
      const { id, user } = await addUser(postern);
      await postern.call('accessuser/update', { id, authId: user.authId, [name]: emptyValue });
      assert.equal((await userOf(postern, id))[name], '');
    });

test('a fetched access user can be edited and sent back with all its fields', async (t) => {
  const postern = await startPostern(t);
  const { id, user } = await addUser(postern);
  await postern.call('accessuser/update', { ...user, lastName: 'Other' });
  assert.equal((await userOf(postern, id)).lastName, 'Other');
});

test('accessuser/update refuses a different username', async (t) => {
  const postern = await startPostern(t);
  const { user } = await addUser(postern);
  const answer = await postern.send('accessuser/update', { ...user, username: 'eve' });
  assert.equal(answer.status, 400);
  assert.deepEqual(fieldErrorsOf(answer), ['username']);
});

test('accessuser operations name all missing required fields at once', async (t) => {
  const postern = await startPostern(t);
  assert.deepEqual(fieldErrorsOf(await postern.send('accessuser/add', {})), ['active', 'username']);
  assert.deepEqual(fieldErrorsOf(await postern.send('accessuser/update', { firstName: 'Ann' })), ['authId', 'id']);
  assert.deepEqual(fieldErrorsOf(await postern.send('accessuser/updateUserPassword', {})), ['confirmPassword', 'userPassword', 'username']);
  assert.deepEqual(fieldErrorsOf(await postern.send('accessuser/deleteByUsername', {})), ['loginProfileId', 'username']);
});

test('accessuser/add refuses fields that Postern sets itself', async (t) => {
  const postern = await startPostern(t);
  for (const name of [
    'id',
    'createdOwner',
    'updatedOwner',
    'createDateTime',
    'updateDateTime',
    'loginProfileName',
    'authTypeId',
    'authTypeStr',
    'etag',
  ])
    assert.deepEqual(fieldErrorsOf(await postern.send('accessuser/add', { username: 'ann', active: true, [name]: 1 })), [name]);
});

test('accessuser/search sorts by every stored field that it returns; the error for other fields lists the valid ones', async (t) => {
  const postern = await startPostern(t);
  const { id, user } = await addUser(postern);
  const { id: other } = await postern.call('accessuser/add', {
    username: 'zoe',
    active: false,
    firstName: 'Zoe',
    lastName: 'Zed',
    email: 'z@example.com',
    authId: 1,
  });
  for (const sortField of [
    'id',
    'username',
    'firstName',
    'lastName',
    'email',
    'authId',
    'createdOwner',
    'updatedOwner',
    'createDateTime',
    'updateDateTime',
    'active',
  ]) {
    const up = await postern.call('accessuser/search', { sortField, sortOrder: 'ace' });
    const down = await postern.call('accessuser/search', { sortField, sortOrder: 'dsc' });
    const [first, second] = up.list;
    assert.ok(first[sortField] <= second[sortField], sortField);
    if (first[sortField] === second[sortField]) assert.deepEqual([first.id, second.id], [id, other], sortField);
    assert.deepEqual(
      down.list.map((record: Json) => record.id),
      [second.id, first.id],
      sortField,
    );
  }
  for (const sortField of ['etag', 'password', 'userPassword', 'nonsense']) {
    const answer = await postern.send('accessuser/search', { sortField });
    assert.deepEqual(fieldErrorsOf(answer), ['sortField'], sortField);
    assert.match(answer.body.errors[0].detail, /username/);
  }
  assert.equal(user.id, id);
});
