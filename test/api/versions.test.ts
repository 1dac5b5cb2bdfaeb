import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUsersProfile, type Json, newShare, startPostern } from '../start.ts';
import { createRecords, ifMatch, newPassword } from './versioned-records.ts';

test('get returns the version of a record as etag and in the ETag header, and search returns the same etag', async (t) => {
  const postern = await startPostern(t);
  const { share, profile } = await createRecords(postern);
  for (const [kind, record] of [
    ['share', share],
    ['loginprofile', profile],
  ] as const) {
    const { headers, body } = await postern.send(`${kind}/get`, { id: record.id });
    assert.equal(headers.get('etag'), body.etag);
    assert.equal((await postern.call(`${kind}/search`)).list.find(({ id }: Json) => id === record.id).etag, body.etag);
  }
});

test('with If-Match, a change with the current etag succeeds, and one with another etag returns 412', async (t) => {
  const postern = await startPostern(t);
  const { share, profile, user } = await createRecords(postern);
  const changes: [string, object, () => Promise<Json>][] = [
    ['share/update', share, () => postern.call('share/get', { id: share.id })],
    ['share/updateSharableLink', { id: share.id }, () => postern.call('share/get', { id: share.id })],
    ['loginprofile/update', { id: profile.id, title: 'Renamed' }, () => postern.call('loginprofile/get', { id: profile.id })],
    ['loginprofile/updateViewId', { id: profile.id }, () => postern.call('loginprofile/get', { id: profile.id })],
    [
      'accessuser/update',
      { id: user.id, authId: profile.id, lastName: 'X' },
      async () => (await postern.call('accessuser/search', { searchWord: 'ann' })).list[0],
    ],
    [
      'accessuser/updateUserPassword',
      { username: 'ann', authId: profile.id, ...newPassword },
      async () => (await postern.call('accessuser/search', { searchWord: 'ann' })).list[0],
    ],
  ];
  for (const [name, body, current] of changes) {
    const { etag } = await current();
    assert.equal(
      (await postern.send(name, name === 'share/update' ? { ...body, title: `T${etag}` } : body, ifMatch(etag))).status,
      200,
      name,
    );
    const after = await current();
    if (name !== 'accessuser/updateUserPassword') assert.notEqual(after.etag, etag, name);
    const stale = await postern.send(name, body, ifMatch('"0"'));
    assert.equal(stale.status, 412, name);
    assert.equal((await current()).etag, after.etag);
  }
});

test('a new password increments the version of the access user', async (t) => {
  const postern = await startPostern(t);
  const { profile, user } = await createRecords(postern);
  await postern.call('accessuser/updateUserPassword', { username: 'ann', authId: profile.id, ...newPassword });
  const stale = await postern.send('accessuser/update', { id: user.id, authId: profile.id, lastName: 'X' }, ifMatch(user.etag));
  assert.equal(stale.status, 412);
});

test('a delete with an outdated etag returns 412 and deletes nothing', async (t) => {
  const postern = await startPostern(t);
  const { share, user, profile } = await createRecords(postern);
  for (const [name, body] of [
    ['share/delete', { id: share.id }],
    ['accessuser/delete', { id: user.id }],
    ['accessuser/deleteByUsername', { username: 'ann', loginProfileId: profile.id }],
    ['loginprofile/delete', { id: profile.id }],
  ] as const)
    assert.equal((await postern.send(name, body, ifMatch('"0"'))).status, 412, name);
  await postern.call('share/delete', { id: share.id }, ifMatch(share.etag));
  await postern.call('accessuser/delete', { id: user.id });
});

test('If-Match accepts * and a list that contains the current etag', async (t) => {
  const postern = await startPostern(t);
  const { share } = await createRecords(postern);
  assert.equal((await postern.send('share/update', share, ifMatch('*'))).status, 200);
  const { etag } = await postern.call('share/get', { id: share.id });
  assert.equal((await postern.send('share/update', share, ifMatch(`"0", ${etag}`))).status, 200);
});

test('a change of computed counts does not change the version of a record', async (t) => {
  const postern = await startPostern(t);
  const { share, profile } = await createRecords(postern);
  const { id } = await postern.call('accessuser/add', { username: 'cyd', active: true, authId: profile.id });
  await postern.call('share/add', newShare({ authenticationId: profile.id }));
  const after = await postern.call('loginprofile/get', { id: profile.id });
  assert.deepEqual([after.userCount, after.shareCount, after.etag], [3, 2, profile.etag]);
  await postern.call('accessuser/delete', { id });
  assert.equal((await postern.call('share/get', { id: share.id })).etag, share.etag);
});

for (const [name, change] of [
  ['deleting', ({ id }: Json) => ['accessuser/delete', { id }] as const],
  ['moving', ({ id }: Json, authId: number) => ['accessuser/update', { id, authId }] as const],
] as const)
  test(`${name} an access user who is listed in a share increments the version of the share, but does not write its long row again`, async (t) => {
    const postern = await startPostern(t);
    const { share, user } = await createRecords(postern);
    const other = await createUsersProfile(postern, []);
    const rowOf = () => postern.ports.store.read.selectFrom('share').selectAll().where('id', '=', share.id).execute();
    const getShare = () => postern.call('share/get', { id: share.id });
    const row = await rowOf();
    const [operation, body] = change(user, other.id);
    await postern.call(operation, body, { query: { dryRun: 'true' } });
    assert.equal((await getShare()).etag, share.etag);
    await postern.call(operation, body);
    const after = await getShare();
    assert.deepEqual([after.userNames, await rowOf()], ['', row]);
    assert.notEqual(after.etag, share.etag);
    assert.equal((await postern.call('share/search')).list[0].etag, after.etag);
    const { etag, ...update } = after;
    assert.equal((await postern.send('share/update', update, ifMatch(share.etag))).status, 412);
    assert.equal((await postern.send('share/update', update, ifMatch(etag))).status, 200);
    assert.ok(![share.etag, etag].includes((await getShare()).etag));
  });
