import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { until } from '../ports/until.ts';
import { addLargeFile, startSlowDownload } from '../visit/slow-download.ts';
import { changeShare, createShare, hour, minute, settableClock } from '../visit/visiting.ts';
import { startWithForgingProvider } from './forged-sign-in.ts';
import { RedirectedBrowser } from './redirected-browser.ts';

const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1' };

/** Starts Postern with a clock and a provider that the test controls, and signs a visitor in. */
async function startSignedIn(t: TestContext, configuration: object = {}) {
  const clock = settableClock();
  const setup = await startWithForgingProvider(t, configuration, { environment, replacements: { ports: { clock } } });
  const { provider, postern, share, begin } = setup;
  provider.idToken = () => provider.sign(provider.claims({ exp: Math.floor((clock.now() + hour) / 1000) }));
  const browser = new RedirectedBrowser();
  await begin(browser);
  const visit = () => browser.visit(postern, share.base);
  assert.equal((await visit()).body.visitor.name, 'Ann');
  /** Returns the status of a listing, for which the visitor must be signed in. */
  const list = async () => (await browser.open(`${postern.publicUrl}${share.base}/list`)).response.status;
  const sessions = async () => (await postern.ports.store.read.selectFrom('visit_session').selectAll().execute()).length;
  return { ...setup, clock, browser, visit, list, sessions };
}

const withError = (status: number, error: string) => (_: unknown, response: ServerResponse) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));

test('a statement about another user ends the session that it should renew, and the page offers to sign in', async (t) => {
  const { provider, postern, clock, list, visit, sessions } = await startSignedIn(t);
  provider.idToken = () => provider.sign(provider.claims({ sub: 'admin', nonce: undefined }));
  clock.advance(11 * minute);
  assert.equal(await list(), 401);
  assert.equal(await sessions(), 0);
  const { status, body } = await visit();
  assert.deepEqual([status, body.visitor, body.signIn.signedIn], [200, null, false]);
  await until(async () => (await postern.call('audit/search', { action: 'sign-out' })).list.length > 0);
  const [entry] = (await postern.call('audit/search', { action: 'sign-out' })).list;
  assert.equal(entry.actor, 'Ann');
  assert.match(JSON.stringify(entry.after), /different user/);
});

for (const error of ['invalid_grant', 'invalid_client', 'unauthorized_client'])
  test(`a provider that answers ${error} to a renewal ends the session`, async (t) => {
    const { provider, clock, list, sessions } = await startSignedIn(t);
    provider.responses.set('/token', withError(400, error));
    clock.advance(11 * minute);
    assert.deepEqual([await list(), await sessions()], [401, 0]);
  });

for (const [what, path, status] of [
  ['that is overloaded (503)', '/token', 503],
  ['that wants fewer requests (429)', '/token', 429],
  ['whose userinfo endpoint fails', '/userinfo', 500],
] as const)
  test(`a provider ${what} ends no session: its visitors get 503 until it works again`, async (t) => {
    const { provider, clock, visit, list, sessions } = await startSignedIn(t, { groupsClaim: 'groups' });
    provider.responses.set(path, (_, response) => void response.writeHead(status).end());
    clock.advance(11 * minute);
    const { status: visitStatus, body } = await visit();
    assert.deepEqual([visitStatus, body.code, await sessions()], [503, 'providerAway', 1]);
    provider.responses.clear();
    await until(async () => (await list()) === 200);
  });

test('a new refresh token is stored, even if the provider fails right after issuing it', async (t) => {
  const { provider, clock, list } = await startSignedIn(t, { groupsClaim: 'groups' });
  const sentRefreshTokens = () =>
    provider.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token').map((form) => form.get('refresh_token'));
  provider.refreshToken = 'the-second-token';
  provider.responses.set('/userinfo', (_, response) => void response.writeHead(503).end());
  clock.advance(11 * minute);
  assert.equal(await list(), 503);
  provider.responses.clear();
  await until(async () => (await list()) === 200);
  assert.deepEqual(sentRefreshTokens(), ['a-refresh-token', 'the-second-token']);
});

test('if a provider sends no ID token at renewals, the claims of the last ID token count for an hour', async (t) => {
  const { provider, postern, profile, clock, browser, list } = await startSignedIn(t, { groupsClaim: 'groups', requireGroup: undefined });
  provider.userinfo = { groups: ['editors'] };
  const editors = await createShare(postern, { authenticationId: profile.id, allowAllUsers: false, groupNames: 'editors' });
  const listEditors = async () => (await browser.open(`${postern.publicUrl}${editors.base}/list`)).response.status;
  provider.omittedFields.add('id_token');
  clock.advance(11 * minute);
  assert.deepEqual([await list(), await listEditors()], [200, 200], 'a new group of the userinfo endpoint counts');
  assert.equal((await browser.visit(postern, editors.base)).body.visitor.email, 'ann@example.com', 'as in the ID token');
  for (let checks = 0; checks < 4; checks += 1) {
    clock.advance(11 * minute);
    assert.equal(await list(), 200);
  }
  clock.advance(11 * minute);
  assert.equal(await list(), 401);
});

test('many requests of a session that is due for renewal cause only one request to its provider', async (t) => {
  const { provider, clock, list } = await startSignedIn(t);
  const before = provider.tokenRequests.length;
  clock.advance(11 * minute);
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 12 }, list))), new Set([200]));
  assert.equal(provider.tokenRequests.length - before, 1);
});

test('while a provider does not respond, transfers of its visitors continue, and transfers of a deactivated share are still cut', async (t) => {
  const { provider, postern, clock, browser, share } = await startSignedIn(t);
  await addLargeFile(postern);
  const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const openShare = await createShare(postern);
  const dueDownloads = await Promise.all(
    Array.from({ length: 5 }, () => startSlowDownload(t, `${postern.publicUrl}${share.base}/file/large.bin`, { cookie })),
  );
  const other = await startSlowDownload(t, `${postern.publicUrl}${openShare.base}/file/large.bin`, {});
  const { promise: requested, resolve: noteRequest } = Promise.withResolvers<void>();
  provider.responses.set('/token', () => noteRequest()); // sends no response
  clock.advance(11 * minute);
  await requested;
  await changeShare(postern, openShare.id, { active: false });
  const first = await Promise.race([
    other.connectionError.then(() => 'other share'),
    ...dueDownloads.map(({ connectionError }) => connectionError.then(() => 'due')),
  ]);
  assert.equal(first, 'other share');
});

test('a running download of a user whom the provider no longer knows is cut after ten minutes', async (t) => {
  const { provider, postern, clock, browser, share } = await startSignedIn(t);
  await addLargeFile(postern);
  const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const { connectionError } = await startSlowDownload(t, `${postern.publicUrl}${share.base}/file/large.bin`, { cookie });
  provider.responses.set('/token', withError(400, 'invalid_grant'));
  clock.advance(11 * minute);
  await connectionError;
});

test('if two processes want to renew a session at the same time, only one of them sends a request to the provider', async (t) => {
  const { provider, postern, profile, clock, list } = await startSignedIn(t);
  const { store } = postern.ports;
  const before = provider.tokenRequests.length;
  clock.advance(11 * minute);
  const { now } = store.dialect;
  await store.write(
    (tx) =>
      tx
        .updateTable('visit_session')
        .set(({ eb }) => ({ renewing_until: eb(now, '+', 10_000) }))
        .execute(),
    'job',
  );
  const waiting = list();
  const row = await store.read.selectFrom('visit_session').select(['identity', 'profile_id']).executeTakeFirstOrThrow();
  assert.equal(row.profile_id, Number(profile.id));
  const identity = JSON.stringify({ ...JSON.parse(row.identity ?? '{}'), claimsAt: clock.now() });
  // The other process stores a new value of `renewal`, so this process cannot take the lease any more and sends no request.
  const renewedRow = { identity, renewal: 'of the other process', renewing_until: null };
  await store.write((tx) => tx.updateTable('visit_session').set(renewedRow).execute(), 'job');
  assert.equal(await waiting, 200);
  assert.equal(provider.tokenRequests.length, before);
});

test('a new refresh token is not lost if the database cannot store it when it arrives, and the session does not end', async (t) => {
  const { provider, postern, clock, visit, list, sessions } = await startSignedIn(t);
  const { store } = postern.ports;
  const { write } = store;
  provider.refreshToken = 'the-second-token';
  const failingWrite: typeof write = (...parameters) => {
    const isWritable = provider.tokenRequests.at(-1)?.get('grant_type') !== 'refresh_token';
    return isWritable ? write(...parameters) : Promise.reject(new Error('the database is unavailable'));
  };
  Object.assign(store, { write: failingWrite });
  clock.advance(11 * minute);
  assert.ok((await visit()).status >= 500);
  Object.assign(store, { write });
  assert.equal(await sessions(), 1);
  await store.write((tx) => tx.updateTable('visit_session').set({ renewing_until: null }).execute(), 'job'); // ends the lease
  await until(async () => (await list()) === 200);
  const refreshTokens = provider.tokenRequests.map((form) => form.get('refresh_token')).filter((token) => token !== null);
  assert.deepEqual(refreshTokens, ['a-refresh-token', 'the-second-token']);
});

test('an HTML page that a proxy sends instead of the response of the provider ends no session', async (t) => {
  const { provider, clock, visit, sessions } = await startSignedIn(t);
  provider.responses.set(
    '/token',
    (_, response) => void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not Found</h1>'),
  );
  clock.advance(11 * minute);
  const { status, body } = await visit();
  assert.deepEqual([status, body.code, await sessions()], [503, 'providerAway', 1]);
});
