import assert from 'node:assert/strict';
import { access, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createUsersProfile, newShare, startPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

test('deleting a share removes its link but not its files', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await postern.call('share/add', newShare({ path: '/welcome.txt', folder: false }));
  await postern.call('share/delete', { id });
  assert.equal((await postern.visit(`/s/${viewId}/visit`)).status, 404);
  assert.equal((await postern.send('share/get', { id })).status, 404);
  await access(join(postern.files, 'welcome.txt'));
});

test('share/duplicate copies everything except id, title, link, times and etag, even if the file is unavailable', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann']);
  const { id } = await postern.call(
    'share/add',
    newShare({
      authenticationId: profile.id,
      allowAllUsers: false,
      userNames: 'ann',
      groupNames: 'staff',
      notifyEmails: 'a@example.com',
      validityEndDate: '2036-01-01',
      alertView: true,
      path: '/welcome.txt',
      folder: false,
      active: false,
      description: 'd',
    }),
  );
  await rename(join(postern.files, 'welcome.txt'), join(postern.data, 'gone.txt'));
  const copy = await postern.call('share/duplicate', { id, title: 'Copy' });
  const ownFields = { id: 0, title: '', viewId: '', viewUrl: '', createDateTime: '', updateDateTime: '', etag: '' };
  const [before, after] = [await postern.call('share/get', { id }), await postern.call('share/get', { id: copy.id })];
  assert.deepEqual({ ...after, ...ownFields }, { ...before, ...ownFields });
  assert.equal(after.title, 'Copy');
  assert.notEqual(after.viewId, before.viewId);
  assert.deepEqual(fieldErrorsOf(await postern.send('share/duplicate', { id })), ['title']);
});

test('a share of a missing file can be stopped, changed and deleted, but its folder flag cannot be changed', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare({ path: '/welcome.txt', folder: false }));
  await rename(join(postern.files, 'welcome.txt'), join(postern.data, 'gone.txt'));
  const share = await postern.call('share/get', { id });
  await postern.call('share/update', { ...share, active: false, title: 'Stopped' });
  assert.equal((await postern.send('share/update', { ...share, folder: true })).status, 400);
  await postern.call('share/delete', { id });
});

test('the link of a stopped share returns 404 at once, and works again when the share is active again', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await postern.call('share/add', newShare());
  const share = await postern.call('share/get', { id });
  const status = async () => (await postern.visit(`/s/${viewId}/visit`)).status;
  await postern.call('share/update', { ...share, active: false });
  assert.equal(await status(), 404);
  await postern.call('share/update', { ...share, active: true });
  assert.equal(await status(), 200);
});

test('share/update refuses an unknown profile; update and delete of a deleted share return 404', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare());
  const share = await postern.call('share/get', { id });
  assert.deepEqual(fieldErrorsOf(await postern.send('share/update', { ...share, authenticationId: 987 })), ['authenticationId']);
  await postern.call('share/delete', { id });
  assert.equal((await postern.send('share/update', { ...share, authenticationId: 987 })).status, 404);
  assert.equal((await postern.send('share/delete', { id })).status, 404);
});
