import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, startPostern, type TestPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';
import { addKey } from './keys.ts';

const mask = '********';
const fields = [
  { name: 'title', added: 'Clients', updated: 'Customers' },
  { name: 'description', added: 'one\ntwo', updated: 'three', cleared: '' },
  { name: 'ipRange', added: '10.0.0.0/8', updated: '192.0.2.1', cleared: '' },
  { name: 'username', added: 'guest', updated: 'visitor', cleared: '' },
  { name: 'lang', added: 'en', updated: '', cleared: '' },
  { name: 'startupMessage', added: 'Welcome', updated: 'Hello', cleared: '' },
];
const fieldNames = [
  'id',
  'title',
  'tid',
  'description',
  'ipRange',
  'typeId',
  'typeString',
  'shareCount',
  'userCount',
  'viewId',
  'viewUrl',
  'username',
  'password',
  'lang',
  'startupMessage',
  'configuration',
  'createdOwner',
  'updatedOwner',
  'createDateTime',
  'updateDateTime',
];

async function addProfile(postern: TestPostern) {
  const body = {
    typeId: 2,
    password: 'open sesame, please',
    userCount: 99,
    ...Object.fromEntries(fields.map(({ name, added }) => [name, added])),
  };
  const { id } = await postern.call('loginprofile/add', body);
  return { id, profile: await postern.call('loginprofile/get', { id }) };
}

test('loginprofile/get and search return every field of a login profile and its etag', async (t) => {
  const postern = await startPostern(t);
  const { id, profile } = await addProfile(postern);
  assert.deepEqual(Object.keys(profile).sort(), [...fieldNames, 'etag'].sort());
  const { list } = await postern.call('loginprofile/search');
  assert.deepEqual(
    list.find((record: Json) => record.id === id),
    profile,
  );
});

test('loginprofile/add stores the given fields, but computes userCount', async (t) => {
  const postern = await startPostern(t);
  const { profile } = await addProfile(postern);
  for (const { name, added } of fields) assert.equal(profile[name], added, name);
  assert.deepEqual(
    [profile.typeId, profile.typeString, profile.password, profile.userCount, profile.shareCount, profile.tid],
    [2, 'PASSWORD', mask, 0, 0, 1],
  );
  assert.equal(profile.viewUrl, `${postern.publicUrl}/p/${profile.viewId}`);
  assert.match(profile.viewId, /^[A-Za-z0-9_-]{22}$/);
  assert.deepEqual([profile.createdOwner, profile.updatedOwner], ['environment', 'environment']);
});

for (const { name, updated } of fields)
  test(`loginprofile/update changes ${name} and nothing else`, async (t) => {
    const postern = await startPostern(t);
    const { id, profile } = await addProfile(postern);
    await postern.call('loginprofile/update', { id, [name]: updated });
    const after = await postern.call('loginprofile/get', { id });
    assert.deepEqual({ ...after, etag: '', updateDateTime: '' }, { ...profile, [name]: updated, etag: '', updateDateTime: '' });
  });

for (const { name, cleared } of fields.filter((field) => 'cleared' in field))
  for (const emptyValue of [null, ''])
    test(`loginprofile/update with ${JSON.stringify(emptyValue)} clears ${name}`, async (t) => {
      const postern = await startPostern(t);
      const { id } = await addProfile(postern);
      await postern.call('loginprofile/update', { id, [name]: emptyValue });
      assert.equal((await postern.call('loginprofile/get', { id }))[name], cleared);
    });

test('the title of a login profile and the password of a PASSWORD profile cannot be cleared', async (t) => {
  const postern = await startPostern(t);
  const { id } = await addProfile(postern);
  for (const name of ['title', 'password'])
    for (const emptyValue of [null, '']) {
      const answer = await postern.send('loginprofile/update', { id, [name]: emptyValue });
      assert.equal(answer.status, 400, `${name} ${emptyValue}`);
      assert.deepEqual(fieldErrorsOf(answer), [name]);
    }
});

test('a fetched login profile can be edited and sent back with all its fields; its masked password stays unchanged', async (t) => {
  const postern = await startPostern(t);
  const { id, profile } = await addProfile(postern);
  await postern.call('loginprofile/update', { ...profile, ipRange: '', title: 'Customers' });
  assert.equal((await postern.call('loginprofile/get', { id })).title, 'Customers');
  const signInResponse = await postern.visit(`/p/${profile.viewId}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'guest', password: 'open sesame, please' }),
  });
  assert.equal(signInResponse.status, 200);
});

test('loginprofile/update refuses a different tid', async (t) => {
  const postern = await startPostern(t);
  const { id } = await addProfile(postern);
  assert.deepEqual(fieldErrorsOf(await postern.send('loginprofile/update', { id, tid: 2 })), ['tid']);
});

test('loginprofile/update accepts a new viewId, and the old portal address stops working', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('loginprofile/add', { title: 'Clients' });
  const before = await postern.call('loginprofile/get', { id });
  await postern.call('loginprofile/update', { id, viewId: 'clients-portal' });
  assert.equal((await postern.call('loginprofile/get', { id })).viewUrl, `${postern.publicUrl}/p/clients-portal`);
  assert.equal((await postern.visit(`/p/${before.viewId}/visit`)).status, 404);
  assert.equal((await postern.visit('/p/clients-portal/visit')).status, 200);
});

test('loginprofile/add without fields creates a USERS profile whose title contains its id', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('loginprofile/add', {});
  const profile = await postern.call('loginprofile/get', { id });
  assert.deepEqual([profile.typeId, profile.typeString, profile.title], [3, 'USERS', `Login profile ${id}`]);
});

test('loginprofile/add refuses fields that Postern sets itself, except userCount', async (t) => {
  const postern = await startPostern(t);
  for (const name of [
    'id',
    'tid',
    'typeString',
    'shareCount',
    'viewId',
    'viewUrl',
    'createdOwner',
    'updatedOwner',
    'createDateTime',
    'updateDateTime',
    'etag',
  ])
    assert.deepEqual(fieldErrorsOf(await postern.send('loginprofile/add', { title: 'Clients', [name]: 'x' })), [name]);
});

test('loginprofile/search sorts by stored fields except password and configuration; the error for other fields lists the valid ones', async (t) => {
  const postern = await startPostern(t);
  await addProfile(postern);
  for (const sortField of [
    'id',
    'title',
    'tid',
    'description',
    'ipRange',
    'typeId',
    'viewId',
    'username',
    'lang',
    'startupMessage',
    'createdOwner',
    'updatedOwner',
    'createDateTime',
    'updateDateTime',
  ]) {
    const up = (await postern.call('loginprofile/search', { sortField, sortOrder: 'ace' })).list;
    const down = (await postern.call('loginprofile/search', { sortField, sortOrder: 'dsc' })).list;
    assert.ok(up[0][sortField] <= up[1][sortField], sortField);
    if (up[0][sortField] === up[1][sortField])
      assert.deepEqual(
        up.map((record: Json) => record.id),
        [1, 2],
        sortField,
      );
    assert.deepEqual(
      down.map((record: Json) => record.id),
      up.map((record: Json) => record.id).toReversed(),
      sortField,
    );
  }
  for (const sortField of ['password', 'configuration', 'shareCount', 'userCount', 'viewUrl', 'etag']) {
    const answer = await postern.send('loginprofile/search', { sortField });
    assert.deepEqual(fieldErrorsOf(answer), ['sortField'], sortField);
    assert.match(answer.body.errors[0].detail, /title/);
  }
});

test('loginprofile/search without details, or for a reader, returns empty configurations and user names, and counts of 0', async (t) => {
  const postern = await startPostern(t);
  const { id } = await addProfile(postern);
  const reader = await addKey(postern, 'reader');
  await postern.call('accessuser/add', { username: 'ann', active: true, authId: id });
  const responses = [
    await postern.call('loginprofile/search', { details: false }),
    await postern.call('loginprofile/search', {}, { key: reader }),
    await postern.call('loginprofile/search', { details: true }, { key: reader }),
  ];
  for (const { list } of responses) {
    const profile = list.find((record: Json) => record.id === id);
    assert.deepEqual([profile.configuration, profile.username, profile.userCount, profile.shareCount], ['', '', 0, 0]);
    assert.equal(profile.title, 'Clients');
  }
  const full = (await postern.call('loginprofile/search')).list.find((record: Json) => record.id === id);
  assert.deepEqual([full.username, full.userCount], ['guest', 1]);
});

test('the password of a login profile has at least ten characters and is not a common password', async (t) => {
  const postern = await startPostern(t);
  for (const password of ['short pw', 'password123', '1234567890']) {
    const refusal = await postern.send('loginprofile/add', { typeId: 2, password });
    assert.equal(refusal.status, 400, password);
    assert.deepEqual(fieldErrorsOf(refusal), ['password']);
  }
  const { id } = await postern.call('loginprofile/add', { typeId: 2, password: 'a door of its own' });
  assert.deepEqual(fieldErrorsOf(await postern.send('loginprofile/update', { id, password: 'short pw' })), ['password']);
  await postern.call('loginprofile/update', { id, title: 'renamed', password: '********' });
});

test('loginprofile/get returns to a reader only what loginprofile/search returns', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('loginprofile/add', { typeId: 2, username: 'guest', password: 'a door of its own' });
  const reader = await addKey(postern, 'reader');
  const record = await postern.call('loginprofile/get', { id }, { key: reader });
  const { list } = await postern.call('loginprofile/search', {}, { key: reader });
  assert.deepEqual(
    record,
    list.find((profile: Json) => profile.id === id),
  );
  assert.deepEqual([record.username, record.configuration], ['', '']);
});
