import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUsersProfile, newShare, signIn, startPostern, type TestPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

const linkPassword = 'correct horse battery';
const signInStatus = async (postern: TestPostern, viewId: string, password: string) =>
  (
    await postern.visit(`/s/${viewId}/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ password }),
    })
  ).status;

test('share/add with a linkPassword creates a login profile, and the link opens with that password', async (t) => {
  const postern = await startPostern(t);
  const { key } = await postern.call('apikey/add', { name: 'editor', role: 'editor' });
  const { id, viewId } = await postern.call('share/add', newShare({ title: 'Reports', linkPassword }), { key });
  assert.equal((await postern.visit(`/s/${viewId}/list`)).status, 401);
  assert.equal(await signInStatus(postern, viewId, 'wrong horse battery'), 401);
  assert.equal(await signInStatus(postern, viewId, linkPassword), 200);
  const share = await postern.call('share/get', { id });
  assert.equal(share.authTypeIdStr, 'PASSWORD');
  assert.equal((await postern.call('loginprofile/get', { id: share.authenticationId })).title, 'Password for Reports');
});

test('before sign-in, a link with a linkPassword does not reveal the title of its share', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await postern.call('share/add', newShare({ title: 'Layoffs', linkPassword }));
  const { authenticationId } = await postern.call('share/get', { id });
  const portal = (await postern.call('loginprofile/get', { id: authenticationId })).viewId;
  for (const link of [`/s/${viewId}`, `/p/${portal}`])
    for (const path of [link, `${link}/visit`]) {
      const response = JSON.stringify((await postern.visit(path)).body);
      assert.ok(!response.includes('Layoffs'), `${path}: ${response}`);
    }
  const cookie = await signIn(postern, `/s/${viewId}`, '', linkPassword);
  assert.equal((await postern.visit(`/s/${viewId}/visit`, { headers: { cookie } })).body.share.title, 'Layoffs');
});

test('a link with a linkPassword keeps the ipRange of the given login profile', async (t) => {
  const postern = await startPostern(t);
  const profile = await postern.call('loginprofile/add', { title: 'Office', typeId: 1, ipRange: '203.0.113.0/24' });
  const { viewId } = await postern.call('share/add', newShare({ authenticationId: profile.id, linkPassword }));
  assert.equal(await signInStatus(postern, viewId, linkPassword), 403);
});

test('a new linkPassword ends earlier sessions, and a linkPassword profile that no share uses is deleted', async (t) => {
  const postern = await startPostern(t);
  const profiles = async () => (await postern.call('loginprofile/search')).totalCount;
  const before = await profiles();
  const { id, viewId } = await postern.call('share/add', newShare({ linkPassword }));
  const cookie = await signIn(postern, `/s/${viewId}`, '', linkPassword);
  const { location: _, path: __, authenticationId: ___, ...body } = newShare({ id });
  const { authenticationId } = await postern.call('share/get', { id });
  const newPassword = 'another horse battery';
  await postern.call('share/update', { ...body, authenticationId, linkPassword: newPassword });
  assert.equal((await postern.visit(`/s/${viewId}/list`, { headers: { cookie } })).status, 401);
  assert.deepEqual([await signInStatus(postern, viewId, linkPassword), await signInStatus(postern, viewId, newPassword)], [401, 200]);
  assert.equal(await profiles(), before + 1);
  const copy = await postern.call('share/duplicate', { id, title: 'Copy' });
  await postern.call('share/delete', { id });
  assert.equal(await signInStatus(postern, copy.viewId, newPassword), 200, 'a copy keeps the password');
  await postern.call('share/update', { ...body, id: copy.id, authenticationId: 1 });
  assert.equal(await profiles(), before);
});

test('a weak or too long linkPassword is refused, and a linkPassword is neither returned nor stored in the audit log', async (t) => {
  const postern = await startPostern(t);
  for (const weakPassword of ['nine-char', 'x'.repeat(257), 'password123'])
    assert.deepEqual(
      fieldErrorsOf(await postern.send('share/add', newShare({ linkPassword: weakPassword }))),
      ['linkPassword'],
      weakPassword,
    );
  const share = await postern.call('share/add', newShare({ linkPassword }));
  const texts = [share, await postern.call('share/get', { id: share.id }), await postern.call('audit/search')];
  for (const text of texts) assert.ok(!JSON.stringify(text).includes(linkPassword));
});

test('a linkPassword does not silently delete the list of users and groups that the share admits', async (t) => {
  const postern = await startPostern(t);
  const { id: authenticationId } = await createUsersProfile(postern);
  const lists = { userNames: 'ann', groupNames: 'staff' };
  const { id } = await postern.call('share/add', newShare({ authenticationId, allowAllUsers: false, ...lists }));
  const { userNames: _, ...change } = newShare({ id, authenticationId, allowAllUsers: false, linkPassword });
  assert.deepEqual(fieldErrorsOf(await postern.send('share/update', change)), ['groupNames', 'userNames']);
  const before = await postern.call('share/get', { id });
  assert.deepEqual([before.authenticationId, before.userNames, before.groupNames], [authenticationId, 'ann', 'staff']);
  await postern.call('share/update', { ...change, ...lists });
  const after = await postern.call('share/get', { id });
  assert.deepEqual([after.authTypeIdStr, after.userNames, after.groupNames], ['PASSWORD', 'ann', 'staff']);
});

test('new linkPasswords do not enlarge the table of share counts, and every change is still counted', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Reports', linkPassword }));
  const counts = async () =>
    await postern.ports.store.read.selectFrom('share_count').select(['profile_id', 'changes']).where('tid', '=', 1).execute();
  const sumOf = (rows: { changes: number }[]) => rows.reduce((sum, { changes }) => sum + Number(changes), 0);
  await postern.call('share/update', { ...newShare({ title: 'Reports', linkPassword: `${linkPassword} 0` }), id });
  const before = await counts();
  for (let number = 1; number <= 5; number += 1) {
    const sumBefore = sumOf(await counts());
    await postern.call('share/update', { ...newShare({ title: 'Reports', linkPassword: `${linkPassword} ${number}` }), id });
    assert.ok(sumOf(await counts()) > sumBefore);
    assert.equal((await postern.call('share/search')).totalCount, 1);
  }
  assert.equal(new Set((await counts()).map((row) => row.profile_id)).size, new Set(before.map((row) => row.profile_id)).size);
});
