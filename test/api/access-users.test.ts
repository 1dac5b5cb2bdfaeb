import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cookieOf, createUsersProfile, newShare, signIn, startPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

const newPassword = 'quite another secret';
const passwordFields = (userPassword: string) => ({ userPassword, confirmPassword: userPassword });

test('a password has 10 to 256 characters, matches its confirmation, and is neither the username nor a common password', async (t) => {
  const postern = await startPostern(t);
  const { id: authId } = await createUsersProfile(postern, ['annabella-long']);
  const setPassword = (body: object) => postern.send('accessuser/updateUserPassword', { username: 'annabella-long', authId, ...body });
  for (const password of ['nine-char', 'x'.repeat(257), 'annabella-long', 'ANNABELLA-long', '1234567890', 'password123', '']) {
    const answer = await setPassword(passwordFields(password));
    assert.equal(answer.status, 400, password);
    assert.ok(fieldErrorsOf(answer).includes('userPassword'), password);
  }
  const differentConfirmation = await setPassword({ userPassword: newPassword, confirmPassword: `${newPassword}!` });
  assert.deepEqual([differentConfirmation.status, fieldErrorsOf(differentConfirmation)], [400, ['confirmPassword']]);
  for (const password of ['ten-chars!', 'ü'.repeat(256)]) assert.equal((await setPassword(passwordFields(password))).status, 200, password);
});

test('a wrong currentPassword gets 403', async (t) => {
  const postern = await startPostern(t);
  const { id: authId, password } = await createUsersProfile(postern, ['ann']);
  const setPassword = (body: object) =>
    postern.send('accessuser/updateUserPassword', { username: 'ann', authId, ...passwordFields(newPassword), ...body });
  assert.equal((await setPassword({ currentPassword: 'not the right one' })).status, 403);
  assert.equal((await setPassword({ currentPassword: password })).status, 200);
  assert.equal((await setPassword({ currentPassword: password })).status, 403);
});

test('without authId, a username in several profiles gets 409 and an unknown one 404, regardless of case', async (t) => {
  const postern = await startPostern(t);
  await createUsersProfile(postern, ['ann', 'bob']);
  await createUsersProfile(postern, ['cyd']);
  const other = await postern.call('loginprofile/add', { title: 'Other' });
  await postern.call('accessuser/add', { username: 'Ann', active: true, authId: other.id });
  const setPassword = async (body: object) =>
    (await postern.send('accessuser/updateUserPassword', { ...passwordFields(newPassword), ...body })).status;
  assert.equal(await setPassword({ username: 'ann' }), 409);
  assert.equal(await setPassword({ username: 'BOB' }), 200);
  assert.equal(await setPassword({ username: 'nobody' }), 404);
  assert.equal(await setPassword({ username: 'cyd', authId: other.id }), 404);
});

for (const [what, change] of [
  ['a deactivation', { active: false }],
  ['a move to another profile', { authId: 1 }],
] as const)
  test(`the open session of an access user ends after ${what}`, async (t) => {
    const postern = await startPostern(t);
    const profile = await createUsersProfile(postern, ['ann']);
    const { viewId } = await postern.call('share/add', newShare({ authenticationId: profile.id }));
    const cookie = await signIn(postern, `/s/${viewId}`, 'ann');
    assert.equal((await postern.visit(`/s/${viewId}/list/`, { headers: { cookie } })).status, 200);
    await postern.call('accessuser/update', { id: profile.users['ann'], authId: profile.id, ...change });
    assert.equal((await postern.visit(`/s/${viewId}/list/`, { headers: { cookie } })).status, 401);
  });

test('a new password or a deletion ends the sessions of the user, and the old password no longer works', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const { viewId } = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  const cookies = { ann: await signIn(postern, `/s/${viewId}`, 'ann'), bob: await signIn(postern, `/s/${viewId}`, 'bob') };
  await postern.call('accessuser/updateUserPassword', { username: 'ann', ...passwordFields(newPassword) });
  await postern.call('accessuser/deleteByUsername', { username: 'BOB', loginProfileId: profile.id });
  for (const [username, cookie] of Object.entries(cookies)) {
    assert.equal((await postern.visit(`/s/${viewId}/list/`, { headers: { cookie } })).status, 401, username);
    await assert.rejects(signIn(postern, `/s/${viewId}`, username), /401/);
  }
  assert.notEqual(await signIn(postern, `/s/${viewId}`, 'ann', newPassword), '');
});

test('a deleted user is removed from the lists of all shares, and a new user with the same name gets no access', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const { id, viewId } = await postern.call(
    'share/add',
    newShare({ authenticationId: profile.id, allowAllUsers: false, userNames: 'ann, bob' }),
  );
  await postern.call('accessuser/delete', { id: profile.users['ann'] });
  assert.equal((await postern.call('share/get', { id })).userNames, 'bob');
  await postern.call('accessuser/add', { username: 'ann', active: true, authId: profile.id });
  await postern.call('accessuser/updateUserPassword', { username: 'ann', authId: profile.id, ...passwordFields(newPassword) });
  const answer = await postern.visit(`/s/${viewId}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ann', password: newPassword }),
  });
  assert.equal(answer.status, 403);
  assert.equal((await postern.visit(`/s/${viewId}/list/`, { headers: { cookie: cookieOf(answer) } })).status, 403);
  assert.equal((await postern.call('share/get', { id })).allowedLogins, 1);
});

test('a user moved to another profile is removed from the lists of all shares; if that profile already has the username, the move gets 409', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const other = await createUsersProfile(postern, ['BOB']);
  const { id } = await postern.call('share/add', newShare({ authenticationId: profile.id, allowAllUsers: false, userNames: 'ann,bob' }));
  assert.equal((await postern.send('accessuser/update', { id: profile.users['bob'], authId: other.id })).status, 409);
  await postern.call('accessuser/update', { id: profile.users['ann'], authId: other.id });
  assert.equal((await postern.call('share/get', { id })).userNames, 'bob');
});

test('accessuser/delete is refused without an id, and answers 404 for a deleted user', async (t) => {
  const postern = await startPostern(t);
  assert.deepEqual(fieldErrorsOf(await postern.send('accessuser/delete', {})), ['id']);
  const { id } = await postern.call('accessuser/add', { username: 'ann', active: true });
  await postern.call('accessuser/delete', { id });
  assert.equal((await postern.send('accessuser/delete', { id })).status, 404);
  assert.equal((await postern.send('accessuser/deleteByUsername', { username: 'ann', loginProfileId: 1 })).status, 404);
});

test('a request with an unknown login profile is refused, and the error names the field', async (t) => {
  const postern = await startPostern(t);
  await postern.call('accessuser/add', { username: 'ann', active: true });
  const answers = [
    await postern.send('accessuser/updateUserPassword', { username: 'ann', ...passwordFields(newPassword), authId: 987 }),
    await postern.send('accessuser/deleteByUsername', { username: 'ann', loginProfileId: 987 }),
  ];
  assert.deepEqual(
    answers.map((answer) => [answer.status, fieldErrorsOf(answer)]),
    [
      [400, ['authId']],
      [400, ['loginProfileId']],
    ],
  );
});

test('allowedLogins counts the active users that a share admits, even if the share is inactive; userCount counts all users', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob', 'cyd']);
  const { id } = await postern.call('share/add', newShare({ authenticationId: profile.id, active: false, validityEndDate: '2020-01-01' }));
  await postern.call('accessuser/update', { id: profile.users['cyd'], authId: profile.id, active: false });
  const logins = async () => (await postern.call('share/get', { id })).allowedLogins;
  assert.equal(await logins(), 2);
  await postern.call('share/update', { ...(await postern.call('share/get', { id })), allowAllUsers: false, userNames: 'ann,cyd' });
  assert.equal(await logins(), 1);
  await postern.call('share/update', { ...(await postern.call('share/get', { id })), userNames: '' });
  assert.equal(await logins(), 0);
  assert.equal((await postern.call('loginprofile/get', { id: profile.id })).userCount, 3);
  const { id: open } = await postern.call('share/add', newShare());
  assert.equal((await postern.call('share/get', { id: open })).allowedLogins, 0);
});
