import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { recordStatements } from '../parts/statements.ts';
import { createUsersProfile, newShare, signIn, startPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

test('loginprofile/get without an id returns the default profile; a change or delete without an id is refused', async (t) => {
  const postern = await startPostern(t);
  const profile = await postern.call('loginprofile/get', {});
  assert.deepEqual([profile.id, profile.typeString, profile.title], [1, 'PUBLIC', 'Anyone with the link']);
  for (const name of [
    'loginprofile/update',
    'loginprofile/updateViewId',
    'loginprofile/duplicate',
    'loginprofile/delete',
    'loginprofile/makeDefault',
    'share/updateSharableLink',
  ]) {
    const answer = await postern.send(name, {});
    assert.deepEqual([answer.status, fieldErrorsOf(answer).includes('id')], [400, true], name);
  }
});

test('a login profile with shares or users cannot be deleted, and the 409 response contains both counts', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob', 'cyd']);
  const { id } = await postern.call('share/add', newShare({ authenticationId: profile.id, active: false }));
  const refusal = await postern.send('loginprofile/delete', { id: profile.id });
  assert.equal(refusal.status, 409);
  assert.match(refusal.body.detail, /\b1\b/);
  assert.match(refusal.body.detail, /\b3\b/);
  await postern.call('share/delete', { id });
  assert.equal((await postern.send('loginprofile/delete', { id: profile.id })).status, 409);
  for (const user of Object.values(profile.users)) await postern.call('accessuser/delete', { id: user });
  await postern.call('loginprofile/delete', { id: profile.id });
  assert.equal((await postern.visit(`/p/${profile.viewId}/visit`)).status, 404);
});

test('the default login profile cannot be deleted until another profile is the default', async (t) => {
  const postern = await startPostern(t);
  assert.equal((await postern.send('loginprofile/delete', { id: 1 })).status, 409);
  const { id } = await postern.call('loginprofile/add', { title: 'Clients' });
  await postern.call('loginprofile/makeDefault', { id });
  assert.equal((await postern.call('loginprofile/get', {})).id, id);
  assert.equal((await postern.send('loginprofile/delete', { id })).status, 409);
  await postern.call('loginprofile/delete', { id: 1 });
});

test('loginprofile/duplicate copies the secrets but not the users or shares', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('loginprofile/add', {
    typeId: 2,
    title: 'Door',
    username: 'guest',
    password: 'open sesame, please',
    ipRange: '127.0.0.0/8 ::1',
  });
  await postern.call('accessuser/add', { username: 'ann', active: true, authId: id });
  await postern.call('share/add', newShare({ authenticationId: id }));
  const copy = await postern.call('loginprofile/duplicate', { id, title: 'Gate' });
  const ownFields = {
    id: 0,
    title: '',
    viewId: '',
    viewUrl: '',
    createDateTime: '',
    updateDateTime: '',
    etag: '',
    userCount: 0,
    shareCount: 0,
  };
  const after = await postern.call('loginprofile/get', { id: copy.id });
  assert.deepEqual({ ...after, ...ownFields }, { ...(await postern.call('loginprofile/get', { id })), ...ownFields });
  assert.deepEqual([after.title, after.userCount, after.shareCount, after.viewId], ['Gate', 0, 0, copy.viewId]);
  assert.notEqual(await signIn(postern, `/p/${copy.viewId}`, 'guest', 'open sesame, please'), '');
  assert.equal((await postern.send('loginprofile/duplicate', { id })).status, 200);
});

test('a PUBLIC profile has no portal, and its shares have no portal address', async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('loginprofile/get', { id: 1 });
  const { id } = await postern.call('share/add', newShare());
  const share = await postern.call('share/get', { id });
  assert.deepEqual([share.enableAuthview, share.authViewId, share.authViewUrl], [false, '', '']);
  for (const path of [`/p/${viewId}`, `/p/${viewId}/visit`]) assert.equal((await postern.visit(path)).status, 404);
});

test('changing the type of a login profile reads only the names that its own shares list, not all names of the tenant', async (t) => {
  const statements = recordStatements(t);
  const postern = await startPostern(t);
  if (postern.ports.store.dialect.name !== 'sqlite') return t.skip('the plan of PostgreSQL depends on its statistics');
  const { id } = await postern.call('loginprofile/add', { title: 'Clients', typeId: 3 });
  await postern.call('loginprofile/update', { id, title: 'Clients', typeId: 1 });
  const [update] = [...statements].filter((sql) => /^update "share_user" set "user_id" = \?/.test(sql));
  assert.ok(update);
  const database = new DatabaseSync(join(postern.data, 'postern.db'), { readOnly: true });
  atEnd(t, () => database.close());
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${update}`).all(...Array.from(update.matchAll(/\?/g), () => 1));
  assert.match(plan.map(({ detail }) => detail).join('\n'), /SEARCH share_user USING .*share_id=\?/);
});
