import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { deleteExpiredRows } from '#features/jobs/delete-expired-rows.ts';
import { until } from '../ports/until.ts';
import { cookieOf, type Json, signIn, startPostern, type TestPostern, usersProfile } from '../start.ts';
import { hour, linkTo, minute, posting, raw, settableClock } from './visiting.ts';

const password = 'correct horse battery';

async function entered(t: TestContext) {
  const clock = settableClock();
  const postern = await startPostern(t, { replaced: { ports: { clock } } });
  const profile = await usersProfile(postern);
  const link = await linkTo(postern, { authenticationId: profile.id });
  const cookie = await signIn(postern, link.base, 'ann');
  const status = async () => (await postern.visit(`${link.base}/list`, { headers: { cookie } })).status;
  const { read } = postern.ports.store;
  const sessions = read.selectFrom('visit_session').select('used_at');
  /** Nobody waits for the note that a session was used: the next jump of the clock does. */
  const noted = () => until(async () => (await sessions.executeTakeFirst())?.used_at === clock.now());
  return { clock, postern, profile, link, cookie, status, noted, ann: profile.users['ann'] };
}

test('a session cookie is HttpOnly, SameSite=Lax, for the whole host, and long enough', async (t) => {
  const postern = await startPostern(t);
  const { id } = await usersProfile(postern);
  const { base } = await linkTo(postern, { authenticationId: id });
  const answer = await postern.visit(`${base}/sign-in`, posting({ username: 'ann', password }));
  const [cookie = '', ...more] = answer.headers.getSetCookie();
  assert.deepEqual(more, []);
  const [pair = '', ...attributes] = cookie.split(/; */);
  assert.match(pair, new RegExp(`^postern-${id}=1\\.[A-Za-z0-9_-]{43}$`));
  const said = attributes.map((attribute) => attribute.toLowerCase());
  for (const expected of ['httponly', 'samesite=lax', 'path=/']) assert.ok(said.includes(expected), cookie);
  assert.ok(!said.some((attribute) => attribute.startsWith('domain')), cookie);
  const rows = await postern.ports.store.read.selectFrom('visit_session').selectAll().execute();
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(pair.split('=')[1] ?? 'none'), 'only a hash is stored');
});

test('where the public address is https the cookie is __Host- and Secure', async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_PUBLIC_URL: 'https://files.example.com' } });
  const { id } = await usersProfile(postern);
  const { base } = await linkTo(postern, { authenticationId: id });
  const answer = await raw(postern, `${base}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ann', password }),
  });
  assert.equal(answer.status, 200);
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  assert.match(cookie, new RegExp(`^__Host-postern-${id}=`));
  for (const attribute of [/;\s*Secure/i, /;\s*HttpOnly/i, /;\s*SameSite=Lax/i, /;\s*Path=\/(;|$)/i]) assert.match(cookie, attribute);
  const again = await raw(postern, `${base}/list`, { headers: { cookie: cookie.split(';')[0] ?? '' } });
  assert.equal(again.status, 200);
});

test('a session ends after twelve hours, however busy', async (t) => {
  const { clock, status, noted } = await entered(t);
  for (let halves = 1; halves < 24; halves += 1) {
    clock.ahead(hour / 2);
    assert.equal(await status(), 200, `after ${halves} half hours`);
    await noted();
  }
  clock.ahead(hour / 2);
  assert.equal(await status(), 401);
});

test('a session ends after an hour unused', async (t) => {
  const { clock, status, noted } = await entered(t);
  clock.ahead(hour - minute);
  assert.equal(await status(), 200);
  await noted();
  clock.ahead(hour - minute);
  assert.equal(await status(), 200);
  await noted();
  clock.ahead(hour + minute);
  assert.equal(await status(), 401);
});

test('a session ends with sign-out, and its cookie is taken back', async (t) => {
  const { postern, link, cookie, status } = await entered(t);
  const answer = await postern.visit(`${link.base}/sign-out`, { method: 'POST', headers: { cookie } });
  assert.equal(answer.status, 204);
  assert.match(answer.headers.getSetCookie().join(), /=;/);
  assert.equal(await status(), 401);
});

test('signing out ends that session and no other of the same user', async (t) => {
  const { postern, link, status } = await entered(t);
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
  'a change of the configuration': ({ postern, id }) =>
    postern.call('loginprofile/update', { id, typeId: 4, configuration: '{"allow":["*@example.com"]}' }),
  'a change of the type': ({ postern, id }) => postern.call('loginprofile/update', { id, typeId: 2, password: 'open sesame door' }),
  'a new view id of the profile': ({ postern, id }) => postern.call('loginprofile/updateViewId', { id }),
};
for (const [name, end] of Object.entries(endings))
  test(`a session ends at once with ${name}`, async (t) => {
    const { postern, profile, status, ann } = await entered(t);
    assert.equal(await status(), 200);
    await end({ postern, id: profile.id, ann });
    assert.equal(await status(), 401);
  });

test('a session ends with deactivation, and does not come back to life with the user', async (t) => {
  const { postern, profile, status, ann } = await entered(t);
  await postern.call('accessuser/update', { id: ann, authId: profile.id, active: false });
  assert.equal(await status(), 401);
  await postern.call('accessuser/update', { id: ann, authId: profile.id, active: true });
  assert.equal(await status(), 401);
});

test('a session ends with a move to another profile, and a move back does not bring it back', async (t) => {
  const { postern, profile, status, ann } = await entered(t);
  const other = await usersProfile(postern, [], { title: 'Others' });
  await postern.call('accessuser/update', { id: ann, authId: other.id });
  assert.equal(await status(), 401);
  await postern.call('accessuser/update', { id: ann, authId: profile.id });
  assert.equal(await status(), 401);
});

test('a name that was deleted and is made anew inherits no session', async (t) => {
  const { postern, profile, status, ann } = await entered(t);
  await postern.call('accessuser/delete', { id: ann });
  await postern.call('accessuser/add', { username: 'ann', active: true, authId: profile.id });
  assert.equal(await status(), 401);
});

test('a session by the one password ends with a new password or a new name of the profile', async (t) => {
  const postern = await startPostern(t);
  const profile = await postern.call('loginprofile/add', { title: 'Door', typeId: 2, username: 'guest', password: 'open sesame' });
  const { base } = await linkTo(postern, { authenticationId: profile.id });
  for (const [before, after] of [
    [{ username: 'guest', password: 'open sesame' }, { password: 'open barley' }],
    [{ username: 'guest', password: 'open barley' }, { username: 'friend' }],
  ] as const) {
    const cookie = cookieOf(await postern.visit(`${base}/sign-in`, posting(before)));
    assert.equal((await postern.visit(`${base}/list`, { headers: { cookie } })).status, 200);
    await postern.call('loginprofile/update', { id: profile.id, ...after });
    assert.equal((await postern.visit(`${base}/list`, { headers: { cookie } })).status, 401);
  }
});

test('a session outlives what is only words on the profile', async (t) => {
  const { postern, profile, status } = await entered(t);
  await postern.call('loginprofile/update', { id: profile.id, title: 'Our clients', startupMessage: 'Hi', description: 'x' });
  assert.equal(await status(), 200);
});

test('a user of the share is let in no more from the instant the share drops them', async (t) => {
  const { postern, link, cookie } = await entered(t);
  const share = await postern.call('share/get', { id: link.id });
  await postern.call('share/update', { ...share, allowAllUsers: false, userNames: '' });
  assert.equal((await postern.visit(`${link.base}/list`, { headers: { cookie } })).status, 403);
});

test('a changed share link makes the old address unknown from that instant', async (t) => {
  const { postern, link, cookie, status } = await entered(t);
  const { viewId } = await postern.call('share/updateSharableLink', { id: link.id });
  assert.equal(await status(), 404);
  assert.equal((await postern.visit(`/s/${viewId}/list`, { headers: { cookie } })).status, 200);
});

test('of more than thirty sessions in one browser the thirty newest are kept', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replaced: { ports: { clock } } });
  const jar = new Map<string, string>();
  const names: string[] = [];
  for (let number = 0; number < 31; number += 1) {
    clock.ahead(1000);
    const { viewId, id } = await postern.call('loginprofile/add', { title: `Door ${number}`, typeId: 2, password: 'open sesame' });
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    const answer = await postern.visit(`/p/${viewId}/sign-in`, posting({ password: 'open sesame' }, { cookie }));
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    names.push(`postern-${id}`);
  }
  assert.deepEqual([...jar.keys()], names.slice(1));
});

test('of one network 300 sessions a minute begin at a login profile, and then others go on to sign in', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replaced: { ports: { clock } }, environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1' } });
  const profile = await postern.call('loginprofile/add', { title: 'Door', typeId: 2, password });
  const { base } = await linkTo(postern, { authenticationId: profile.id });
  const asks = (from: string) => postern.visit(`${base}/sign-in`, posting({ password }, { 'x-forwarded-for': from }));
  for (let session = 0; session < 300; session += 1) assert.equal((await asks('203.0.113.7')).status, 200);
  const refused = await asks('203.0.113.7');
  assert.deepEqual([refused.status, refused.body.code], [503, 'signInBusy']);
  assert.equal((await asks('203.0.114.7')).status, 200);
  clock.ahead(Number(refused.headers.get('retry-after')) * 1000);
  assert.equal((await asks('203.0.113.7')).status, 200);
});

test('a session that nobody has used for an hour leaves the database', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replaced: { ports: { clock } } });
  const profile = await usersProfile(postern);
  const { base } = await linkTo(postern, { authenticationId: profile.id });
  await signIn(postern, base, 'ann');
  const count = async () => (await postern.ports.store.read.selectFrom('visit_session').select('hash').execute()).length;
  await deleteExpiredRows(postern.ports);
  assert.equal(await count(), 1);
  clock.ahead(hour + minute);
  await deleteExpiredRows(postern.ports);
  assert.equal(await count(), 0);
});
