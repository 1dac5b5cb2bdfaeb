import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUsersProfile, newShare, startPostern } from '../start.ts';

test('a client can edit the response of share/get and send all of it to share/update', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Audit 2026' }));

  const share = await postern.call('share/get', { id });
  await postern.call('share/update', { ...share, title: 'Audit 2026, final' });

  const { etag, updateDateTime, ...after } = await postern.call('share/get', { id });
  const { etag: etagBefore, updateDateTime: _, ...before } = share;
  assert.deepEqual(after, { ...before, title: 'Audit 2026, final' });
  assert.notEqual(etag, etagBefore);
  assert.ok(updateDateTime >= share.updateDateTime);
});

test('a share with lists of almost the maximum length can be read and sent back unchanged', async (t) => {
  const postern = await startPostern(t);
  const { id: profile } = await postern.call('loginprofile/add', { title: 'Codes', typeId: 4, configuration: '{"allow":[]}' });
  const names = Array.from({ length: 16_000 }, (_, index) => index.toString(36).padStart(3, '0')).join(',');
  for (const list of [names, `"quoted, name",6" rule,${names}`]) {
    const lists = {
      userNames: list,
      groupNames: list,
      notifyEmails: Array.from({ length: 5000 }, (_, index) => `a${index}@b.de`)
        .join(',')
        .slice(0, 65_000)
        .replace(/,[^,]*$/, ''),
    };
    const { id } = await postern.call('share/add', newShare({ authenticationId: profile, allowAllUsers: false, ...lists }));
    const share = await postern.call('share/get', { id });
    await postern.call('share/update', share);
    const again = await postern.call('share/get', { id });
    assert.deepEqual({ ...again, etag: '', updateDateTime: '' }, { ...share, etag: '', updateDateTime: '' });
    assert.equal(again.userNames.replaceAll(', ', ',').split(',').length, list.split(',').length);
  }
  const tooLong = `${names},${'x'.repeat(3000)}`;
  const refusal = await postern.send('share/add', newShare({ authenticationId: profile, allowAllUsers: false, userNames: tooLong }));
  assert.equal(refusal.status, 400);
  assert.match(refusal.body.errors[0].detail, /at most 65536 characters/);
});

test('userNames and groupNames keep the order in which they were last sent', async (t) => {
  const postern = await startPostern(t);
  const { id: profile } = await createUsersProfile(postern, ['ann', 'bob', 'carol', 'dan']);
  const { id } = await postern.call(
    'share/add',
    newShare({ authenticationId: profile, allowAllUsers: false, userNames: 'ann, bob, carol' }),
  );
  for (const list of [
    'bob, carol',
    'dan, bob, carol',
    'carol, dan, ann, bob',
    '',
    'bob',
    'ann, bob, carol, dan',
    'dan, carol, bob, ann',
    'ANN, dan',
  ]) {
    const share = await postern.call('share/get', { id });
    await postern.call('share/update', { ...share, userNames: list, groupNames: list });
    const { userNames, groupNames, allowedLogins } = await postern.call('share/get', { id });
    assert.deepEqual([userNames, groupNames], [list.replace('ANN', 'ann'), list]);
    assert.equal(allowedLogins, list === '' ? 0 : list.split(',').length);
    const copy = await postern.call('share/duplicate', { id, title: 'copy' });
    assert.equal((await postern.call('share/get', { id: copy.id })).userNames, list.replace('ANN', 'ann'));
  }
});

test('of names that differ only in case, only the first is stored, in its position', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare({ allowAllUsers: false, groupNames: 'Audit, sales, AUDIT' }));
  assert.equal((await postern.call('share/get', { id })).groupNames, 'Audit, sales');
});

test('a name that was listed before its user existed admits the user after the list is sent again', async (t) => {
  const postern = await startPostern(t);
  const { id: profile } = await postern.call('loginprofile/add', { title: 'Codes', typeId: 4, configuration: '{"allow":[]}' });
  const { id } = await postern.call('share/add', newShare({ authenticationId: profile, allowAllUsers: false, userNames: 'carol' }));
  await postern.call('loginprofile/update', { id: profile, typeId: 3, configuration: '' });
  const share = await postern.call('share/get', { id });
  const refusal = await postern.send('share/update', { ...share, userNames: 'carol, dave' });
  assert.equal(refusal.status, 400, 'no user has these names yet');
  for (const username of ['carol', 'dave']) await postern.call('accessuser/add', { username, active: true, authId: profile });
  await postern.call('share/update', share);
  assert.equal((await postern.call('share/get', { id })).allowedLogins, 1);
  await postern.call('share/update', { ...share, userNames: 'carol, dave' });
  assert.equal((await postern.call('share/get', { id })).allowedLogins, 2);
});

test('a login profile whose shares list over 100,000 names cannot change from USERS to another type: it would delay all other changes', async (t) => {
  const postern = await startPostern(t);
  const { id: authenticationId } = await postern.call('loginprofile/add', { typeId: 3 });
  const { id } = await postern.call('share/add', newShare({ authenticationId, allowAllUsers: false }));
  const profile = await postern.call('loginprofile/get', { id: authenticationId });
  await postern.ports.store.write((tx) => tx.updateTable('share').set({ listed_names: 100_001 }).where('id', '=', id).execute(), 'job');
  const refusal = await postern.send('loginprofile/update', { ...profile, typeId: 4, configuration: '{"allow":[]}' });
  assert.deepEqual([refusal.status, refusal.body.errors[0].field], [400, 'typeId']);
  await postern.call('loginprofile/update', { ...profile, title: 'Another title' });
});
