import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newShare, startPostern } from '../start.ts';
import { ifMatch, newPassword, records } from './versioned-records.ts';

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
    ['accessuser/updateUserPassword', { username: 'ann', ...newPassword }],
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
