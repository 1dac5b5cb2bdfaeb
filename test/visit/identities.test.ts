import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { cookieOf, createUsersProfile, type Json, signIn, startPostern, temporaryFolder } from '../start.ts';
import { changeShare, createShare, jsonPostRequest, minute } from './visiting.ts';

/** Starts Postern with a clock that the test can advance. `restart` also writes all audit entries that are still in memory. */
async function startWithClock(t: TestContext) {
  let time = Date.parse('2026-05-01T10:00:00Z');
  const data = await temporaryFolder(t);
  const start = () => startPostern(t, { data, replacements: { ports: { clock: { now: () => time } } } });
  const postern = await start();
  const restart = async () => {
    await postern.stop();
    return start();
  };
  const advanceClock = (milliseconds: number) => {
    time += milliseconds;
  };
  return { postern, restart, advanceClock };
}

/** Returns the names of the users in the audit entries of an action, oldest first. */
const actorsOf = async ({ call }: { call: (name: string, body: object) => Promise<Json> }, action: string) =>
  (await call('audit/search', { action })).list.map(({ actor }: Json) => actor);

test('two visitors with the same name at two login profiles have an audit entry each for a download of the same file', async (t) => {
  const { postern, restart } = await startWithClock(t);
  const profiles = [await createUsersProfile(postern), await createUsersProfile(postern)];
  const link = await createShare(postern, { authenticationId: profiles[0]?.id });
  for (const profile of profiles) {
    await changeShare(postern, link.id, { authenticationId: profile.id });
    const cookie = await signIn(postern, link.base, 'ann');
    for (const _ of [1, 2]) await postern.visit(`${link.base}/file/welcome.txt`, { headers: { cookie } });
  }
  const restartedPostern = await restart();
  assert.deepEqual(await actorsOf(restartedPostern, 'download'), ['ann', 'ann']);
  const { byVisitor } = await restartedPostern.call('share/activity', { id: link.id });
  assert.deepEqual(
    byVisitor.map(({ visitor, downloads }: Json) => [visitor, downloads]),
    [
      ['ann', 1],
      ['ann', 1],
    ],
  );
});

test('a user whose name changes stays one visitor: repeated downloads of a file count as one, and the visitor is counted once', async (t) => {
  const { postern, restart, advanceClock } = await startWithClock(t);
  const profile = await createUsersProfile(postern);
  const link = await createShare(postern, { authenticationId: profile.id });
  const cookie = await signIn(postern, link.base, 'ann');
  const { store } = postern.ports;
  for (const username of ['ann', 'abe']) {
    await store.write((tx) => tx.updateTable('access_user').set({ username, username_key: username }).execute(), 'job');
    await postern.visit(`${link.base}/file/welcome.txt`, { headers: { cookie } });
    await postern.visit(`${link.base}/file/of-${username}.txt`, { method: 'PUT', body: 'new', headers: { cookie } });
    advanceClock(minute);
  }
  const restartedPostern = await restart();
  assert.deepEqual([await actorsOf(restartedPostern, 'download'), await actorsOf(restartedPostern, 'upload')], [['ann'], ['ann', 'abe']]);
  const { byDay, byVisitor } = await restartedPostern.call('share/activity', { id: link.id });
  assert.deepEqual(byDay, [{ date: '2026-05-01', visits: 1, downloads: 1, uploads: 2 }]);
  assert.deepEqual(
    byVisitor.map(({ visitor, visits, downloads, uploads }: Json) => [visitor, visits, downloads, uploads]),
    [['abe', 1, 1, 2]],
  );
});

test('all visitors who sign in with the password of a login profile count as one visitor, even after its user name changes', async (t) => {
  const { postern, restart } = await startWithClock(t);
  const { id: profile } = await postern.call('loginprofile/add', { title: 'Door', typeId: 2, username: 'guest', password: 'open sesame' });
  const link = await createShare(postern, { authenticationId: profile });
  for (const username of ['guest', 'friend']) {
    await postern.call('loginprofile/update', { id: profile, username });
    const response = await postern.visit(`${link.base}/sign-in`, jsonPostRequest({ username, password: 'open sesame' }));
    await postern.visit(`${link.base}/file/welcome.txt`, { headers: { cookie: cookieOf(response) } });
  }
  assert.deepEqual(await actorsOf(await restart(), 'download'), ['guest']);
});

test('a listed user counts as having visited only if they visited themselves, not if another visitor has the same name', async (t) => {
  const { postern, restart } = await startWithClock(t);
  const [one, other] = [await createUsersProfile(postern), await createUsersProfile(postern)];
  const link = await createShare(postern, { authenticationId: one.id });
  const cookie = await signIn(postern, link.base, 'ann');
  await postern.visit(`${link.base}/file/welcome.txt`, { headers: { cookie } });
  const usersNotVisited = async ({ call }: { call: (name: string, body: object) => Promise<Json> }) =>
    (await call('share/activity', { id: link.id })).notVisited;
  await changeShare(postern, link.id, { authenticationId: other.id, allowAllUsers: false, userNames: 'ann', groupNames: '' });
  assert.deepEqual(await usersNotVisited(postern), ['ann']);
  await changeShare(postern, link.id, { authenticationId: one.id, allowAllUsers: false, userNames: 'ann', groupNames: '' });
  assert.deepEqual(await usersNotVisited(await restart()), []);
});

test('audit entries of an earlier version, which have no identity key, count for the visitor with the same name', async (t) => {
  const { postern, restart, advanceClock } = await startWithClock(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const link = await createShare(postern, { authenticationId: profile.id, allowAllUsers: false, userNames: 'ann,bob' });
  const cookie = await signIn(postern, link.base, 'ann');
  await postern.visit(`${link.base}/file/welcome.txt`, { headers: { cookie } });
  const { store } = postern.ports;
  await store.write((tx) => tx.updateTable('audit').set({ identity_key: null }).execute(), 'job');
  const activity = async ({ call }: { call: (name: string, body: object) => Promise<Json> }) => {
    const { byVisitor, notVisited } = await call('share/activity', { id: link.id });
    return { counts: byVisitor.map(({ visitor, downloads }: Json) => [visitor, downloads]), notVisited };
  };
  assert.deepEqual(await activity(postern), { counts: [['ann', 1]], notVisited: ['bob'] });
  advanceClock(minute);
  await postern.visit(`${link.base}/zip`, { headers: { cookie } });
  assert.deepEqual(await activity(await restart()), { counts: [['ann', 2]], notVisited: ['bob'] });
});
