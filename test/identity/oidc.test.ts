import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { ClientMetadata } from 'oidc-provider';
import { startOpenIdProvider } from '../parts/openid-provider.ts';
import { until } from '../ports/until.ts';
import { type StartOptions, startPostern } from '../start.ts';
import { changeShare, createShare, jsonPostRequest, minute, settableClock } from '../visit/visiting.ts';
import { RedirectedBrowser } from './redirected-browser.ts';

const users = {
  ann: { email: 'ann@example.com', email_verified: true, name: 'Ann Archer', groups: ['Editors', 'staff'] },
  eve: { email: 'ann@example.com', email_verified: false, name: 'Ann Archer', groups: [] },
  bob: { email: 'bob@example.com', name: 'Bob Baker', groups: ['staff'] },
};
const withGroups = { groupsClaim: 'groups', scopes: 'openid email profile groups' };

async function startWithProvider(
  t: TestContext,
  configuration: object = {},
  start: StartOptions = {},
  client: Partial<ClientMetadata> = {},
) {
  const provider = await startOpenIdProvider(t, structuredClone(users), { clients: [{ client_id: 'postern', ...client }] });
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' }, ...start });
  const profile = await postern.call('loginprofile/add', {
    ...{ title: 'Example Inc.', typeId: 5 },
    configuration: JSON.stringify({ ...provider.configuration, ...configuration }),
  });
  provider.serve(`${postern.publicUrl}/sign-in/oidc/${profile.id}`);
  const share = await createShare(postern, { authenticationId: profile.id });
  /** Signs a user in at a link. @returns the browser of the user */
  async function signIn(subject: keyof typeof users, base = share.base): Promise<RedirectedBrowser> {
    provider.next = subject;
    const browser = new RedirectedBrowser();
    await browser.open(`${postern.publicUrl}${base}/sign-in/start`);
    return browser;
  }
  const list = async (browser: RedirectedBrowser, base = share.base) =>
    (await browser.open(`${postern.publicUrl}${base}/list`)).response.status;
  return { provider, postern, profile, share, signIn, list };
}

for (const at of ['link', 'portal'] as const)
  test(`a visitor signs in at an OpenID provider and comes back to the ${at}`, async (t) => {
    const { postern, profile, share } = await startWithProvider(t);
    const base = at === 'link' ? share.base : `/p/${profile.viewId}`;
    const browser = new RedirectedBrowser();
    const { signIn } = (await browser.visit(postern, base)).body;
    assert.deepEqual([signIn.asksProvider, signIn.asksPassword, signIn.signedIn], [true, false, false]);
    const { url } = await browser.open(`${postern.publicUrl}${base}/sign-in/start`);
    assert.equal(url.href, `${postern.publicUrl}${base}`);
    assert.deepEqual((await browser.visit(postern, base)).body.visitor, { name: 'Ann Archer', email: 'ann@example.com' });
    assert.deepEqual(
      browser.cookies.filter(({ origin, name }) => origin === postern.publicUrl && name.includes('oidc')),
      [],
      'the cookie of the sign-in is deleted',
    );
    const { list } = await postern.call('audit/search', { action: 'sign-in' });
    assert.deepEqual([list.length, list[0].actor, list[0].outcome], [1, 'Ann Archer', 'done']);
  });

for (const [kind, pair] of [
  ['an RSA', generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ['a P-256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
] as const)
  test(`a visitor signs in at a provider to which Postern authenticates with ${kind} key`, async (t) => {
    const { postern, share, signIn } = await startWithProvider(
      t,
      { clientAuth: 'private_key_jwt', clientSecret: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) },
      {},
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [pair.publicKey.export({ format: 'jwk' })] } },
    );
    const ann = await signIn('ann');
    assert.equal((await ann.visit(postern, share.base)).body.visitor.name, 'Ann Archer');
  });

test('a share lists visitors by verified e-mail, subject or group, and never by the name that they choose', async (t) => {
  const { postern, profile, signIn, list } = await startWithProvider(t, withGroups);
  const createListedShare = async (lists: object) =>
    (await createShare(postern, { authenticationId: profile.id, allowAllUsers: false, ...lists })).base;
  const byEmail = await createListedShare({ userNames: 'ANN@example.com' });
  const bySubject = await createListedShare({ userNames: 'ann' });
  const byName = await createListedShare({ userNames: 'Ann Archer' });
  const byGroup = await createListedShare({ groupNames: 'editors' });
  const ann = await signIn('ann');
  const eve = await signIn('eve');
  const statuses = async (browser: RedirectedBrowser) =>
    Promise.all([byEmail, bySubject, byName, byGroup].map((base) => list(browser, base)));
  assert.deepEqual(await statuses(ann), [200, 200, 403, 200]);
  assert.deepEqual(await statuses(eve), [403, 403, 403, 403]);
});

test('an e-mail address without email_verified counts only if the profile trusts the provider', async (t) => {
  for (const [emailTrust, email] of [
    ['verified', ''],
    ['provider', 'bob@example.com'],
  ] as const) {
    const { postern, share, signIn } = await startWithProvider(t, { emailTrust });
    const browser = await signIn('bob');
    assert.deepEqual((await browser.visit(postern, share.base)).body.visitor, { name: 'Bob Baker', email });
  }
});

test('a user outside the required group is refused, and the audit log says why', async (t) => {
  const { postern, share, signIn } = await startWithProvider(t, { ...withGroups, requireGroup: 'editors' });
  const ann = await signIn('ann');
  assert.equal((await ann.visit(postern, share.base)).body.signIn.signedIn, true);
  const bob = await signIn('bob');
  assert.equal((await bob.visit(postern, share.base)).body.signIn.signedIn, false);
  const landingUrl = new URL(bob.visited.at(-2) ?? '');
  const [, code, reference] = /^#sign-in=(\w+)\.(.+)$/.exec(landingUrl.hash) ?? [];
  assert.equal(code, 'providerRefused');
  await until(async () => (await postern.call('audit/search', { outcome: 'refused' })).list.length > 0);
  const [entry] = (await postern.call('audit/search', { searchWord: reference ?? '' })).list;
  assert.equal(entry.requestId, reference);
  assert.match(JSON.stringify(entry.after), /not in the group editors/);
});

test('a user who is removed at the provider loses access after ten minutes, and a change of groups takes effect after ten minutes', async (t) => {
  const clock = settableClock();
  const { provider, postern, profile, share, signIn, list } = await startWithProvider(
    t,
    { ...withGroups, scopes: 'openid email profile groups offline_access' },
    {
      environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' },
      replacements: { ports: { clock } },
    },
  );
  const editors = await createShare(postern, { authenticationId: profile.id, allowAllUsers: false, groupNames: 'editors' });
  const ann = await signIn('ann');
  assert.equal(await list(ann, editors.base), 200);
  Object.assign(provider.users.ann ?? {}, { groups: ['staff'] });
  clock.advance(9 * minute);
  assert.equal(await list(ann, editors.base), 200);
  clock.advance(2 * minute);
  assert.deepEqual([await list(ann, editors.base), await list(ann, share.base)], [403, 200]);
  delete provider.users.ann;
  clock.advance(11 * minute);
  assert.equal(await list(ann, share.base), 401);
});

test('a session that cannot be renewed ends after an hour', async (t) => {
  const clock = settableClock();
  const { postern, signIn, list } = await startWithProvider(
    t,
    {},
    { replacements: { ports: { clock } }, environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' } },
  );
  const ann = await signIn('ann');
  await postern.ports.store.write((tx) => tx.updateTable('visit_session').set({ renewal: null }).execute(), 'job');
  clock.advance(59 * minute);
  assert.equal(await list(ann), 200);
  clock.advance(2 * minute);
  assert.equal(await list(ann), 401);
});

test('while the provider is unavailable, its visitors get 503 after ten minutes, and are admitted again when the provider is back', async (t) => {
  const clock = settableClock();
  const { provider, share, postern, signIn, list } = await startWithProvider(
    t,
    {},
    { replacements: { ports: { clock } }, environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' } },
  );
  const ann = await signIn('ann');
  const { port } = new URL(provider.issuer);
  provider.server.closeAllConnections();
  await new Promise((resolve) => provider.server.close(resolve));
  assert.equal(await list(ann), 200);
  clock.advance(11 * minute);
  const { status, body } = await ann.visit(postern, share.base);
  assert.deepEqual([status, body.code], [503, 'providerAway']);
  await new Promise<void>((resolve) => provider.server.listen(Number(port), '127.0.0.1', resolve));
  await until(async () => (await list(ann)) === 200);
});

test('a change of the client secret, scopes or prompt ends no session; a change of the groups claim ends all sessions', async (t) => {
  const { provider, postern, profile, signIn, list } = await startWithProvider(t);
  const change = (configuration: object) =>
    postern.call('loginprofile/update', { id: profile.id, configuration: JSON.stringify({ ...provider.configuration, ...configuration }) });
  const ann = await signIn('ann');
  await change({ clientSecret: 'another secret', scopes: 'openid email', prompt: 'login' });
  assert.equal(await list(ann), 200);
  await change({ clientSecret: 'another secret', groupsClaim: 'groups' });
  assert.equal(await list(ann), 401);
});

test('the client secret is masked in responses and in the audit log', async (t) => {
  const { provider, postern, profile } = await startWithProvider(t);
  const profileText = JSON.stringify(await postern.call('loginprofile/get', { id: profile.id }));
  const auditText = JSON.stringify(await postern.call('audit/search', {}));
  for (const text of [profileText, auditText]) assert.ok(!text.includes(provider.configuration.clientSecret));
});

test('a session of one login profile is not valid at a share of another one', async (t) => {
  const { postern, signIn, list, provider } = await startWithProvider(t);
  const other = await postern.call('loginprofile/add', {
    title: 'Other',
    typeId: 5,
    configuration: JSON.stringify(provider.configuration),
  });
  const otherShare = await createShare(postern, { authenticationId: other.id });
  assert.equal(await list(await signIn('ann'), otherShare.base), 401);
});

test('a sign-in that began before its link was deactivated does not open the link', async (t) => {
  const { postern, share } = await startWithProvider(t);
  const browser = new RedirectedBrowser();
  const { url } = await browser.open(`${postern.publicUrl}${share.base}/sign-in/start`, ({ pathname }) =>
    pathname.startsWith('/sign-in/oidc/'),
  );
  await changeShare(postern, share.id, { active: false });
  const { response } = await browser.open(url.href);
  assert.equal(response.status, 404);
});

test('a password, or a request for a code, is refused at a link whose login profile uses a provider', async (t) => {
  const { postern, share } = await startWithProvider(t);
  for (const [path, body] of [
    ['sign-in', { username: 'ann', password: 'correct horse battery' }],
    ['sign-in/code', { email: 'ann@example.com' }],
    ['password/code', { email: 'ann@example.com' }],
  ] as const) {
    const answer = await postern.visit(`${share.base}/${path}`, jsonPostRequest(body));
    assert.deepEqual([answer.status, answer.body.code], [400, 'requestMalformed'], path);
  }
  const basic = { authorization: `Basic ${Buffer.from('ann:correct horse battery').toString('base64')}` };
  assert.equal((await postern.visit(`${share.base}/list`, { headers: basic })).status, 401);
});

test('signing out ends the session at Postern, and the response has the address that ends it at the provider', async (t) => {
  const { provider, postern, profile, share, signIn, list } = await startWithProvider(t);
  const ann = await signIn('ann');
  const cookie = ann.cookies.filter(({ origin }) => origin === postern.publicUrl).map(({ name, value }) => `${name}=${value}`);
  const { status, body } = await postern.visit(`${share.base}/sign-out`, { method: 'POST', headers: { cookie: cookie.join('; ') } });
  assert.equal(status, 200);
  const url = new URL(body.url);
  assert.equal(url.origin, provider.issuer);
  assert.equal(url.searchParams.get('client_id'), provider.configuration.clientId);
  assert.equal(url.searchParams.get('post_logout_redirect_uri'), postern.publicUrl + share.base);
  assert.equal(await list(ann), 401);
  assert.equal((await postern.visit(`/p/${profile.viewId}/sign-out`, { method: 'POST' })).status, 204, 'nobody was signed in');
});
