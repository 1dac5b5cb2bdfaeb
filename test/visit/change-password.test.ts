import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { cookieOf, createUsersProfile, signIn, startPostern } from '../start.ts';
import { createShare } from './visiting.ts';

const newPassword = 'quite another secret';

async function startWithAnn(t: TestContext) {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann']);
  const { base } = await createShare(postern, { authenticationId: profile.id });
  const cookie = await signIn(postern, base, 'ann');
  const change = (at: string, currentPassword: string, password: string, headers: Record<string, string> = { cookie }) =>
    postern.visit(`${at}/password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ currentPassword, password }),
    });
  return { postern, profile, base, cookie, change };
}

for (const at of ['link', 'portal'] as const)
  test(`a password change at a ${at} keeps the browser signed in, in a new session, and ends all other sessions`, async (t) => {
    const { postern, profile, base, cookie, change } = await startWithAnn(t);
    const otherCookie = await signIn(postern, base, 'ann');
    const answer = await change(at === 'link' ? base : `/p/${profile.viewId}`, profile.password, newPassword);
    assert.equal(answer.status, 204);
    const list = async (headers: Record<string, string>) => (await postern.visit(`${base}/list`, { headers })).status;
    assert.deepEqual(
      [await list({ cookie: cookieOf(answer) }), await list({ cookie }), await list({ cookie: otherCookie })],
      [200, 401, 401],
    );
    await assert.rejects(signIn(postern, base, 'ann'), /401/);
    await signIn(postern, base, 'ann', newPassword);
    const { list: entries } = await postern.call('audit/search', { action: 'change-password' });
    assert.deepEqual([entries.length, entries[0].actor, JSON.stringify(entries).includes(newPassword)], [1, 'ann', false]);
  });

test('a password change requires a sign-in and the current password, and wrong attempts are rate-limited', async (t) => {
  const { profile, base, change } = await startWithAnn(t);
  assert.equal((await change(base, profile.password, newPassword, {})).status, 401);
  for (let number = 0; number < 5; number += 1) {
    const wrong = await change(base, 'wrong horse battery', newPassword);
    assert.deepEqual([wrong.status, wrong.body.code], [403, 'currentPasswordWrong']);
  }
  await change(base, 'wrong horse battery', newPassword);
  assert.equal((await change(base, profile.password, newPassword)).status, 429);
});

test('a password that is too short or easy to guess is refused with a field error', async (t) => {
  const { profile, base, change } = await startWithAnn(t);
  for (const password of ['nine-char', 'password123']) {
    const answer = await change(base, profile.password, password);
    assert.deepEqual([answer.status, answer.body.errors[0].field], [400, 'password'], password);
  }
});

test('a visitor without a password of their own cannot change one', async (t) => {
  const { postern, change } = await startWithAnn(t);
  const { base } = await createShare(postern);
  assert.equal((await change(base, 'correct horse battery', newPassword)).status, 401);
  const passwordProfile = await postern.call('loginprofile/add', { title: 'One', typeId: 2, password: 'correct horse battery' });
  const link = await createShare(postern, { authenticationId: passwordProfile.id });
  const cookie = await signIn(postern, link.base, '', 'correct horse battery');
  assert.equal((await change(link.base, 'correct horse battery', newPassword, { cookie })).status, 403);
});
