import assert from 'node:assert/strict';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { packStoredRanges } from '#features/login-profiles/pack-stored-ranges.ts';
import { createUsersProfile, signIn, startPostern, type TestResponse } from '../start.ts';
import { changeShare, createShare, hour, jsonPostRequest, noPermissions, settableClock } from './visiting.ts';

const day = 24 * hour;
const isoTime = (time: number) => new Date(time).toISOString();
/** Returns a response without the fields that differ for each request. */
function comparableResponse({ status, body, headers }: TestResponse) {
  const { instance: _, timestamp: __, ...rest } = body;
  return { status, rest, type: headers.get('content-type'), challenge: headers.get('www-authenticate') };
}

test('an unknown link, a stopped share and a share that has not started yet get the same 404 response', async (t) => {
  const postern = await startPostern(t);
  const stoppedShare = await createShare(postern, { active: false });
  const scheduledShare = await createShare(postern, { validityStartDate: isoTime(Date.now() + day) });
  const unknownLink = '/s/abcdefghijklmnopqrstuv';

  for (const path of ['', '/visit', '/list', '/file/welcome.txt', '/zip', '/view/welcome.txt']) {
    const unknownLinkResponse = comparableResponse(await postern.visit(unknownLink + path));
    assert.equal(unknownLinkResponse.status, 404);
    assert.deepEqual(comparableResponse(await postern.visit(stoppedShare.base + path)), unknownLinkResponse, `stopped ${path}`);
    assert.deepEqual(comparableResponse(await postern.visit(scheduledShare.base + path)), unknownLinkResponse, `scheduled ${path}`);
  }
  assert.equal(comparableResponse(await postern.visit(`${unknownLink}/list`)).rest.code, 'linkUnknown');
});

test('a link with a trailing slash opens the same page', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, {});
  assert.equal((await postern.visit(`${base}/`)).body, (await postern.visit(base)).body);
  assert.equal((await postern.visit('/s/abcdefghijklmnopqrstuv/')).status, 404);
});

test('a link works from its start date on, and requests get 410 from its end date on', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const window = { validityStartDate: isoTime(clock.now() + hour), validityEndDate: isoTime(clock.now() + 2 * hour) };
  const { base } = await createShare(postern, window);

  assert.equal((await postern.visit(`${base}/list`)).status, 404);
  clock.advance(hour);
  assert.equal((await postern.visit(`${base}/list`)).status, 200);
  clock.advance(hour - 1);
  assert.equal((await postern.visit(`${base}/list`)).status, 200);
  clock.advance(1);
  for (const path of ['', '/visit', '/list', '/file/welcome.txt']) assert.equal((await postern.visit(base + path)).status, 410, path);
  assert.equal((await postern.visit(`${base}/list`)).body.code, 'linkEnded');
  assert.equal((await postern.visit(`${base}/sign-out`, { method: 'POST' })).status, 410);
});

test('if several rules refuse a request, the response names the first one in the documented order', async (t) => {
  const postern = await startPostern(t);
  const { id, users } = await createUsersProfile(postern, ['ann', 'bob'], { ipRange: '203.0.113.0/24' });
  const refusedByAllRules = { authenticationId: id, allowAllUsers: false, userNames: 'bob', ...noPermissions };
  const share = await createShare(postern, { ...refusedByAllRules, active: false, validityEndDate: isoTime(Date.now() - day) });
  const request = (headers: Record<string, string> = {}) => postern.visit(`${share.base}/list/absent`, { headers });

  assert.equal((await request()).body.code, 'linkUnknown');
  await changeShare(postern, share.id, { active: true });
  assert.equal((await request()).body.code, 'linkEnded');
  await changeShare(postern, share.id, { validityEndDate: null });
  const answerOutsideRange = await request();
  assert.equal(answerOutsideRange.status, 403);
  assert.equal(answerOutsideRange.body.code, 'addressRefused');
  await postern.call('loginprofile/update', { id, ipRange: '' });
  const answerBeforeSignIn = await request();
  assert.equal(answerBeforeSignIn.status, 401);
  assert.equal(answerBeforeSignIn.body.code, 'signInNeeded');
  const portal = `/p/${(await postern.call('loginprofile/get', { id })).viewId}`;
  const cookie = await signIn(postern, portal, 'ann');
  const answerNotListed = await request({ cookie });
  assert.equal(answerNotListed.status, 403);
  assert.equal(answerNotListed.body.code, 'notAdmitted');
  await changeShare(postern, share.id, { userNames: 'ann' });
  const answerWithoutPermission = await request({ cookie });
  assert.equal(answerWithoutPermission.status, 403);
  assert.equal(answerWithoutPermission.body.code, 'permissionOff');
  await changeShare(postern, share.id, { canView: true });
  const answerForAbsentItem = await request({ cookie });
  assert.equal(answerForAbsentItem.status, 404);
  assert.equal(answerForAbsentItem.body.code, 'itemAbsent');
  assert.ok(users['ann']);
});

test('an address outside the IP range gets 403, also for the page and for sign-in', async (t) => {
  const postern = await startPostern(t);
  const { id } = await createUsersProfile(postern, ['ann'], { ipRange: '203.0.113.7, 2001:db8::/32' });
  const { base } = await createShare(postern, { authenticationId: id });

  for (const path of ['', '/visit', '/list']) assert.equal((await postern.visit(base + path)).status, 403, path);
  for (const path of ['/sign-in', '/sign-out'])
    assert.equal(
      (await postern.visit(base + path, jsonPostRequest({ username: 'ann', password: 'correct horse battery' }))).status,
      403,
      path,
    );
});

test('an IP range that an earlier version stored still applies', async (t) => {
  const postern = await startPostern(t);
  const outside = await createUsersProfile(postern, [], { ipRange: '203.0.113.7, 2001:db8::/32' });
  const inside = await createUsersProfile(postern, [], { ipRange: '127.0.0.0/8, ::1' });
  const { store } = postern.ports;
  const bounds = async () => (await store.read.selectFrom('login_profile').select('ip_bounds').execute()).map((row) => row.ip_bounds);
  const boundsBefore = await bounds();
  await store.write((tx) => tx.updateTable('login_profile').set({ ip_bounds: null }).execute(), 'job');
  const check = async () => {
    for (const [id, viewId, expected] of [
      [outside.id, outside.viewId, 403],
      [inside.id, inside.viewId, 200],
    ]) {
      const { base } = await createShare(postern, { authenticationId: id });
      assert.equal((await postern.visit(`${base}/visit`)).status, expected);
      assert.equal((await postern.visit(`/p/${viewId}/visit`)).status, expected);
    }
  };
  await check();
  await packStoredRanges(store); // the next start of Postern does this
  assert.deepEqual((await bounds()).sort(), boundsBefore.sort());
  await check();
});

test('for an IP range, X-Forwarded-For counts only if a trusted proxy sends it', async (t) => {
  const environment = { POSTERN_TRUSTED_PROXIES: '127.0.0.1' };
  const postern = await startPostern(t, { environment });
  const posternWithoutProxy = await startPostern(t);
  for (const [server, expected] of [
    [postern, 200],
    [posternWithoutProxy, 403],
  ] as const) {
    const { id } = await createUsersProfile(server, [], { typeId: 2, password: 'a door password', ipRange: '203.0.113.7' });
    const { base } = await createShare(server, { authenticationId: id });
    const answer = await server.visit(`${base}/visit`, { headers: { 'x-forwarded-for': '203.0.113.7' } });
    assert.equal(answer.status, expected);
  }
});

test('before sign-in, the page, visit and sign-out work, and requests to read or change files get 401', async (t) => {
  const postern = await startPostern(t);
  const { id } = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: id });

  for (const path of ['/list', '/file/welcome.txt', '/view/welcome.txt', '/zip'])
    assert.equal((await postern.visit(base + path)).status, 401, path);
  for (const path of ['/file/new.txt']) assert.equal((await postern.visit(base + path, { method: 'PUT', body: 'x' })).status, 401);
  assert.equal((await postern.visit(`${base}/file/welcome.txt`, { method: 'DELETE' })).status, 401);
  assert.equal((await postern.visit(`${base}/folder/new`, { method: 'POST' })).status, 401);
  assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path: 'welcome.txt', name: 'a.txt' }))).status, 401);
  assert.equal((await postern.visit(base)).status, 200);
  assert.equal((await postern.visit(`${base}/visit`)).status, 200);
  assert.equal((await postern.visit(`${base}/sign-out`, { method: 'POST' })).status, 204);
});

test('a user who is not listed for a share can see only the page and sign out', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await createUsersProfile(postern, ['ann', 'bob']);
  const { base } = await createShare(postern, { authenticationId: id, allowAllUsers: false, userNames: 'bob' });
  const cookie = await signIn(postern, `/p/${viewId}`, 'ann');

  const stranger = await postern.visit(`${base}/visit`);
  assert.equal(stranger.status, 200);
  assert.equal(stranger.body.share, null);
  for (const path of ['/visit', '/list', '/file/welcome.txt', '/zip'])
    assert.equal((await postern.visit(base + path, { headers: { cookie } })).status, 403, path);
  assert.equal((await postern.visit(base, { headers: { cookie } })).status, 200);
  const response = await postern.visit(`${base}/sign-in`, jsonPostRequest({ username: 'ann', password: 'correct horse battery' }));
  assert.equal(response.status, 403);
  assert.match(response.headers.getSetCookie().join(), /postern-/);
  assert.equal((await postern.visit(`${base}/sign-out`, { method: 'POST', headers: { cookie } })).status, 204);
});

test('a share for listed users admits no visitor if its login profile requires no sign-in', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, { allowAllUsers: false, userNames: '' });

  for (const path of ['/visit', '/list', '/file/welcome.txt']) assert.equal((await postern.visit(base + path)).status, 403, path);
  assert.equal((await postern.visit(base)).status, 200);
});

test('a request without the permission gets 403 even if the path does not exist', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, noPermissions);
  const requests: [string, RequestInit][] = [
    ['/list/absent', {}],
    ['/file/absent', {}],
    ['/view/absent', {}],
    ['/zip/absent', {}],
    ['/file/absent/a', { method: 'PUT', body: 'x' }],
    ['/file/absent', { method: 'DELETE' }],
    ['/folder/absent/a', { method: 'POST' }],
    ['/rename', jsonPostRequest({ path: 'absent', name: 'b' })],
  ];
  for (const [path, init] of requests) {
    const answer = await postern.visit(base + path, init);
    assert.equal(answer.status, 403, path);
    assert.equal(answer.body.code, 'permissionOff', path);
  }
});

test('a request for a path that does not exist gets 404, and so does a request to create an item in a missing folder', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const requests: [string, RequestInit][] = [
    ['/list/absent', {}],
    ['/list/welcome.txt/deeper', {}],
    ['/file/absent', {}],
    ['/view/absent', {}],
    ['/zip/absent', {}],
    ['/zip?name=absent', {}],
    ['/file/absent/a', { method: 'PUT', body: 'x' }],
    ['/file/welcome.txt/a', { method: 'PUT', body: 'x' }],
    ['/file/absent', { method: 'DELETE' }],
    ['/folder/absent/a', { method: 'POST' }],
    ['/rename', jsonPostRequest({ path: 'absent', name: 'b' })],
    ['/rename', jsonPostRequest({ path: 'absent/a', name: 'b' })],
  ];
  for (const [path, init] of requests) assert.equal((await postern.visit(base + path, init)).body.code, 'itemAbsent', path);
});

test('requests to a deleted shared folder get 404, and requests to an unavailable location get 503', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'inner'));
  await writeFile(join(postern.files, 'inner/a.txt'), 'a');
  const { base } = await createShare(postern, { path: '/inner' });
  await rm(join(postern.files, 'inner'), { recursive: true });
  assert.equal((await postern.visit(`${base}/list`)).status, 404);

  await rename(postern.files, `${postern.files}-away`);
  for (const path of ['/list', '/file/a.txt', '/zip']) {
    const answer = await postern.visit(base + path);
    assert.equal(answer.status, 503, path);
    assert.equal(answer.body.code, 'storageAway', path);
  }
});
