import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, newShare, startPostern, type TestPostern, usersProfile } from '../start.ts';

const ifMatch = (etag: string) => ({ headers: { 'if-match': etag } });
const secret = { userPassword: 'another long secret', confirmPassword: 'another long secret' };

async function records(postern: TestPostern) {
  const profile = await usersProfile(postern, ['ann', 'bob']);
  const { id } = await postern.call('share/add', newShare({ authenticationId: profile.id, allowAllUsers: false, userNames: 'ann' }));
  const user = (await postern.call('accessuser/search', { searchWord: 'ann' })).list[0];
  return { share: await postern.call('share/get', { id }), profile: await postern.call('loginprofile/get', { id: profile.id }), user };
}

test('get returns the version of a record as etag and in the ETag header, and search returns the same etag', async (t) => {
  const postern = await startPostern(t);
  const { share, profile } = await records(postern);
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
  const { share, profile, user } = await records(postern);
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
      { username: 'ann', authId: profile.id, ...secret },
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

test('a new password raises the version of its access user', async (t) => {
  const postern = await startPostern(t);
  const { profile, user } = await records(postern);
  await postern.call('accessuser/updateUserPassword', { username: 'ann', authId: profile.id, ...secret });
  const stale = await postern.send('accessuser/update', { id: user.id, authId: profile.id, lastName: 'X' }, ifMatch(user.etag));
  assert.equal(stale.status, 412);
});

test('a delete with an outdated etag returns 412 and deletes nothing', async (t) => {
  const postern = await startPostern(t);
  const { share, user, profile } = await records(postern);
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
  const { share } = await records(postern);
  assert.equal((await postern.send('share/update', share, ifMatch('*'))).status, 200);
  const { etag } = await postern.call('share/get', { id: share.id });
  assert.equal((await postern.send('share/update', share, ifMatch(`"0", ${etag}`))).status, 200);
});

test('a change of computed counts does not change the version of a record', async (t) => {
  const postern = await startPostern(t);
  const { share, profile } = await records(postern);
  const { id } = await postern.call('accessuser/add', { username: 'cyd', active: true, authId: profile.id });
  await postern.call('share/add', newShare({ authenticationId: profile.id }));
  const after = await postern.call('loginprofile/get', { id: profile.id });
  assert.deepEqual([after.userCount, after.shareCount, after.etag], [3, 2, profile.etag]);
  await postern.call('accessuser/delete', { id });
  assert.equal((await postern.call('share/get', { id: share.id })).etag, share.etag);
});

test('deleting an access user who is listed in a share raises the version of the share', async (t) => {
  const postern = await startPostern(t);
  const { share, user } = await records(postern);
  await postern.call('accessuser/delete', { id: user.id });
  const after = await postern.call('share/get', { id: share.id });
  assert.equal(after.userNames, '');
  assert.notEqual(after.etag, share.etag);
});

test('a dry run returns success with dryRun and without the fields of new records, and changes nothing', async (t) => {
  const postern = await startPostern(t);
  const { share, profile, user } = await records(postern);
  const state = async () =>
    JSON.stringify([
      await postern.call('share/search'),
      await postern.call('loginprofile/search'),
      await postern.call('accessuser/search'),
      await postern.call('apikey/search', { searchWord: 'dry' }),
      await postern.call('location/search'),
      await postern.call('tenant/search'),
    ]);
  const before = await state();
  const [location] = (await postern.call('location/search')).list;
  const { id: other } = await postern.call('loginprofile/get', {});
  for (const [name, body] of [
    ['share/add', newShare()],
    ['share/update', { ...share, title: 'Dry' }],
    ['share/updateSharableLink', { id: share.id }],
    ['share/updateSharableLink', { id: share.id, viewId: 'dry-run-link' }],
    ['share/duplicate', { id: share.id, title: 'Dry' }],
    ['share/delete', { id: share.id }],
    ['accessuser/add', { username: 'dry', active: true }],
    ['accessuser/update', { id: user.id, authId: other }],
    ['accessuser/updateUserPassword', { username: 'ann', ...secret }],
    ['accessuser/delete', { id: user.id }],
    ['accessuser/deleteByUsername', { username: 'ann', loginProfileId: profile.id }],
    ['loginprofile/add', { title: 'Dry' }],
    ['loginprofile/update', { id: profile.id, title: 'Dry' }],
    ['loginprofile/updateViewId', { id: profile.id }],
    ['loginprofile/duplicate', { id: profile.id, title: 'Dry' }],
    ['loginprofile/makeDefault', { id: profile.id }],
    ['apikey/add', { name: 'dry', role: 'admin' }],
    ['location/update', { id: location.id, name: 'dry' }],
    ['tenant/add', { title: 'Dry' }],
  ] as const) {
    const answer = await postern.call(name, body, { query: { dryRun: 'true' } });
    assert.deepEqual(Object.keys(answer).sort(), ['dryRun', 'message', 'messageId', 'status', 'timestamp'], name);
    assert.deepEqual([answer.dryRun, answer.status], [true, 200]);
  }
  assert.equal(await state(), before);
  assert.equal((await postern.call('audit/search', { searchWord: 'Dry' })).totalCount, 0);
  assert.equal((await postern.send(`loginprofile/get`, {})).body.id, other);
});

test('a dry run refuses what the change would refuse', async (t) => {
  const postern = await startPostern(t);
  const { share, profile } = await records(postern);
  const dry = { query: { dryRun: 'true' } };
  assert.equal((await postern.send('share/add', newShare({ location: 'nowhere' }), dry)).status, 400);
  assert.equal((await postern.send('loginprofile/delete', { id: profile.id }, dry)).status, 409);
  assert.equal((await postern.send('accessuser/add', { username: 'ANN', active: true, authId: profile.id }, dry)).status, 409);
  assert.equal((await postern.send('loginprofile/updateViewId', { id: profile.id, viewId: share.viewId }, dry)).status, 409);
  assert.equal((await postern.send('share/delete', { id: share.id }, { ...dry, ...ifMatch('"0"') })).status, 412);
});

test('dryRun=false makes the change, and values other than true and false are refused', async (t) => {
  const postern = await startPostern(t);
  const done = await postern.call('loginprofile/add', {}, { query: { dryRun: 'false' } });
  assert.equal(typeof done.id, 'number');
  for (const word of ['1', 'yes', 'TRUE', ''])
    assert.equal((await postern.send('loginprofile/add', {}, { query: { dryRun: word } })).status, 400, word);
});
