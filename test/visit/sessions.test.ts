import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { deleteExpiredRows } from '#features/jobs/delete-expired-rows.ts';
import { until } from '../ports/until.ts';
import { cookieOf, createUsersProfile, type Json, signIn, startPostern, type TestPostern } from '../start.ts';
import { createShare, hour, jsonPostRequest, minute, sendPath, settableClock } from './visiting.ts';

const password = 'correct horse battery';

async function startSignedIn(t: TestContext) {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const profile = await createUsersProfile(postern);
  const link = await createShare(postern, { authenticationId: profile.id });
  const cookie = await signIn(postern, link.base, 'ann');
  const status = async () => (await postern.visit(`${link.base}/list`, { headers: { cookie } })).status;
  const { read } = postern.ports.store;
  const sessions = read.selectFrom('visit_session').select('used_at');
  /** Waits until the time of the last use is stored. Requests do not wait for this, but the test must wait before it moves the clock. */
  const waitForStoredUse = () => until(async () => (await sessions.executeTakeFirst())?.used_at === clock.now());
  return { clock, postern, profile, link, cookie, status, waitForStoredUse, ann: profile.users['ann'] };
}

test('a session cookie is HttpOnly, SameSite=Lax, valid for the entire host, and has a token of 43 characters', async (t) => {
  const postern = await startPostern(t);
  const { id } = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: id });
  const answer = await postern.visit(`${base}/sign-in`, jsonPostRequest({ username: 'ann', password }));
  const [cookie = '', ...more] = answer.headers.getSetCookie();
  assert.deepEqual(more, []);
  const [pair = '', ...attributes] = cookie.split(/; */);
  assert.match(pair, new RegExp(`^postern-${id}=1\\.[A-Za-z0-9_-]{43}$`));
  const names = attributes.map((attribute) => attribute.toLowerCase());
  for (const expected of ['httponly', 'samesite=lax', 'path=/']) assert.ok(names.includes(expected), cookie);
  assert.ok(!names.some((attribute) => attribute.startsWith('domain')), cookie);
  const rows = await postern.ports.store.read.selectFrom('visit_session').selectAll().execute();
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(pair.split('=')[1] ?? 'none'), 'only a hash is stored');
});

test('a session stores the identity of its visitor: subject, name, e-mail address, names, groups and the time of the claims', async (t) => {
  const { postern, ann, clock } = await startSignedIn(t);
  const row = await postern.ports.store.read.selectFrom('visit_session').selectAll().executeTakeFirstOrThrow();
  const identity = { subject: String(ann), name: 'ann', email: 'ann@example.com', names: ['ann'], groups: [], claimsAt: clock.now() };
  assert.deepEqual(JSON.parse(row.identity ?? ''), identity);
});

test('a visitor whose session has no identity, because an earlier version began it during the upgrade, must sign in again', async (t) => {
  const { postern, status } = await startSignedIn(t);
  await postern.ports.store.write((tx) => tx.updateTable('visit_session').set({ identity: null }).execute(), 'job');
  assert.equal(await status(), 401);
});

test('with an https public address, the session cookie has the __Host- prefix and is Secure', async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_PUBLIC_URL: 'https://files.example.com' } });
  const { id } = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: id });
  const answer = await sendPath(postern, `${base}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ann', password }),
  });
  assert.equal(answer.status, 200);
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  assert.match(cookie, new RegExp(`^__Host-postern-${id}=`));
  for (const attribute of [/;\s*Secure/i, /;\s*HttpOnly/i, /;\s*SameSite=Lax/i, /;\s*Path=\/(;|$)/i]) assert.match(cookie, attribute);
  const listing = await sendPath(postern, `${base}/list`, { headers: { cookie: cookie.split(';')[0] ?? '' } });
  assert.equal(listing.status, 200);
});

test('a session ends after twelve hours even if it is in constant use', async (t) => {
  const { clock, status, waitForStoredUse } = await startSignedIn(t);
  for (let halfHours = 1; halfHours < 24; halfHours += 1) {
    clock.advance(hour / 2);
    assert.equal(await status(), 200, `after ${halfHours} half hours`);
    await waitForStoredUse();
  }
  clock.advance(hour / 2);
  assert.equal(await status(), 401);
});

test('a session ends after one hour without use', async (t) => {
  const { clock, status, waitForStoredUse } = await startSignedIn(t);
  clock.advance(hour - minute);
  assert.equal(await status(), 200);
  await waitForStoredUse();
  clock.advance(hour - minute);
  assert.equal(await status(), 200);
  await waitForStoredUse();
  clock.advance(hour + minute);
  assert.equal(await status(), 401);
});

test('sign-out ends the session and deletes its cookie', async (t) => {
  const { postern, link, cookie, status } = await startSignedIn(t);
  const answer = await postern.visit(`${link.base}/sign-out`, { method: 'POST', headers: { cookie } });
  assert.equal(answer.status, 204);
  assert.match(answer.headers.getSetCookie().join(), /=;/);
  assert.equal(await status(), 401);
});

test('sign-out does not end other sessions of the same user', async (t) => {
  const { postern, link, status } = await startSignedIn(t);
  const other = await signIn(postern, link.base, 'ann');
  await postern.visit(`${link.base}/sign-out`, { method: 'POST', headers: { cookie: other } });
  assert.equal(await status(), 200);
});

type Ending = (at: { postern: TestPostern; id: number; ann: number | undefined }) => Promise<Json>;
const endings: Record<string, Ending> = {
  'the deletion of the user': ({ postern, ann }) => postern.call('accessuser/delete', { id: ann }),
  'the deletion of the user by name': ({ postern, id }) =>
    postern.call('accessuser/deleteByUsername', { username: 'ann', loginProfileId: id }),
  'a new password': ({ postern, id }) =>
    postern.call('accessuser/updateUserPassword', {
      username: 'ann',
      userPassword: 'another fine phrase',
      confirmPassword: 'another fine phrase',
      authId: id,
    }),
  'a change of the type and the configuration': ({ postern, id }) =>
    postern.call('loginprofile/update', { id, typeId: 4, configuration: '{"allow":["*@example.com"]}' }),
  'a change of the type': ({ postern, id }) => postern.call('loginprofile/update', { id, typeId: 2, password: 'open sesame door' }),
  'a new viewId of the profile': ({ postern, id }) => postern.call('loginprofile/updateViewId', { id }),
};
for (const [name, end] of Object.entries(endings))
  test(`${name} ends the session at once`, async (t) => {
    const { postern, profile, status, ann } = await startSignedIn(t);
    assert.equal(await status(), 200);
    await end({ postern, id: profile.id, ann });
    assert.equal(await status(), 401);
  });

test('deactivation of a user ends the session, and activation does not restore it', async (t) => {
  const { postern, profile, status, ann } = await startSignedIn(t);
  await postern.call('accessuser/update', { id: ann, authId: profile.id, active: false });
  assert.equal(await status(), 401);
  await postern.call('accessuser/update', { id: ann, authId: profile.id, active: true });
  assert.equal(await status(), 401);
});

test('a move of the user to another login profile ends the session, and a move back does not restore it', async (t) => {
  const { postern, profile, status, ann } = await startSignedIn(t);
  const other = await createUsersProfile(postern, [], { title: 'Others' });
  await postern.call('accessuser/update', { id: ann, authId: other.id });
  assert.equal(await status(), 401);
  await postern.call('accessuser/update', { id: ann, authId: profile.id });
  assert.equal(await status(), 401);
});

test('a new user with the name of a deleted user does not get the old session', async (t) => {
  const { postern, profile, status, ann } = await startSignedIn(t);
  await postern.call('accessuser/delete', { id: ann });
  await postern.call('accessuser/add', { username: 'ann', active: true, authId: profile.id });
  assert.equal(await status(), 401);
});

test('a session of a password profile ends if the password or the user name of the profile changes', async (t) => {
  const postern = await startPostern(t);
  const profile = await postern.call('loginprofile/add', { title: 'Door', typeId: 2, username: 'guest', password: 'open sesame' });
  const { base } = await createShare(postern, { authenticationId: profile.id });
  for (const [before, after] of [
    [{ username: 'guest', password: 'open sesame' }, { password: 'open barley' }],
    [{ username: 'guest', password: 'open barley' }, { username: 'friend' }],
  ] as const) {
    const cookie = cookieOf(await postern.visit(`${base}/sign-in`, jsonPostRequest(before)));
    assert.equal((await postern.visit(`${base}/list`, { headers: { cookie } })).status, 200);
    await postern.call('loginprofile/update', { id: profile.id, ...after });
    assert.equal((await postern.visit(`${base}/list`, { headers: { cookie } })).status, 401);
  }
});

test('a change of the texts of a login profile does not end its sessions', async (t) => {
  const { postern, profile, status } = await startSignedIn(t);
  await postern.call('loginprofile/update', { id: profile.id, title: 'Our clients', startupMessage: 'Hi', description: 'x' });
  assert.equal(await status(), 200);
});

test('a signed-in user gets 403 as soon as the share no longer admits them', async (t) => {
  const { postern, link, cookie } = await startSignedIn(t);
  const share = await postern.call('share/get', { id: link.id });
  await postern.call('share/update', { ...share, allowAllUsers: false, userNames: '' });
  assert.equal((await postern.visit(`${link.base}/list`, { headers: { cookie } })).status, 403);
});

test('when a share gets a new link, the old link answers 404 at once', async (t) => {
  const { postern, link, cookie, status } = await startSignedIn(t);
  const { viewId } = await postern.call('share/updateSharableLink', { id: link.id });
  assert.equal(await status(), 404);
  assert.equal((await postern.visit(`/s/${viewId}/list`, { headers: { cookie } })).status, 200);
});

test('a browser keeps only its thirty newest sessions', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const jar = new Map<string, string>();
  const names: string[] = [];
  for (let number = 0; number < 31; number += 1) {
    clock.advance(1000);
    const { viewId, id } = await postern.call('loginprofile/add', { title: `Door ${number}`, typeId: 2, password: 'open sesame' });
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    const answer = await postern.visit(`/p/${viewId}/sign-in`, jsonPostRequest({ password: 'open sesame' }, { cookie }));
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    names.push(`postern-${id}`);
  }
  assert.deepEqual([...jar.keys()], names.slice(1));
});

test('one network can start 300 sessions per minute at a login profile, and other networks are not affected', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } }, environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1' } });
  const profile = await postern.call('loginprofile/add', { title: 'Door', typeId: 2, password });
  const { base } = await createShare(postern, { authenticationId: profile.id });
  const request = (from: string) => postern.visit(`${base}/sign-in`, jsonPostRequest({ password }, { 'x-forwarded-for': from }));
  for (let session = 0; session < 300; session += 1) assert.equal((await request('203.0.113.7')).status, 200);
  const refusal = await request('203.0.113.7');
  assert.deepEqual([refusal.status, refusal.body.code], [503, 'signInBusy']);
  assert.equal((await request('203.0.114.7')).status, 200);
  clock.advance(Number(refusal.headers.get('retry-after')) * 1000);
  assert.equal((await request('203.0.113.7')).status, 200);
});

test('a session without use for an hour is deleted from the database', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const profile = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: profile.id });
  await signIn(postern, base, 'ann');
  const count = async () => (await postern.ports.store.read.selectFrom('visit_session').select('hash').execute()).length;
  await deleteExpiredRows(postern.ports);
  assert.equal(await count(), 1);
  clock.advance(hour + minute);
  await deleteExpiredRows(postern.ports);
  assert.equal(await count(), 0);
});
