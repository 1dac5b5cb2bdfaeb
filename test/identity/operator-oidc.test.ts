import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { freeFailures } from '#core/authorization/sign-in-delay.ts';
import { countAttempt, networkKeys } from '#features/rate-limits/failed-attempts.ts';
import { systemClock } from '../../src/adapters/os/system.ts';
import { startOpenIdProvider } from '../parts/openid-provider.ts';
import { adminKey, startPostern, type TestPostern } from '../start.ts';
import { RedirectedBrowser } from './redirected-browser.ts';

const password = 'a horse that reads maps';
const users = {
  ann: { email: 'ann@example.com', email_verified: true, name: 'Ann Archer', groups: ['Administrators', 'staff'] },
  bob: { email: 'bob@example.com', email_verified: true, name: 'Bob Baker', groups: ['staff'] },
  eve: { email: 'eve@example.com', email_verified: true, name: 'Eve Elder', groups: [] },
};

async function startWithProvider(t: TestContext) {
  const provider = await startOpenIdProvider(t, structuredClone(users));
  const time = { shift: 0 }; // ms
  const postern = await startPostern(t, {
    environment: {
      POSTERN_PRIVATE_TARGETS: '127.0.0.1',
      POSTERN_OPERATOR_OIDC_ISSUER: provider.issuer,
      POSTERN_OPERATOR_OIDC_CLIENT_ID: provider.configuration.clientId,
      POSTERN_OPERATOR_OIDC_CLIENT_SECRET: provider.configuration.clientSecret,
      POSTERN_OPERATOR_OIDC_SCOPES: 'openid email profile groups',
      POSTERN_OPERATOR_OIDC_ADMINS: 'Administrators',
      POSTERN_OPERATOR_OIDC_READERS: 'staff',
    },
    replacements: { ports: { clock: { now: () => systemClock.now() + time.shift } } },
  });
  provider.serve(`${postern.apiUrl}/api/v1/operator/signIn/finish`);
  await postern.call('operator/add', { name: 'Olga', role: 'admin', password, confirmPassword: password });
  /** Signs a user in. @returns the browser, and the address to which it was sent at the end */
  async function signIn(subject: keyof typeof users, browser = new RedirectedBrowser()) {
    provider.next = subject;
    const { url } = await browser.open(`${postern.apiUrl}/api/v1/operator/signIn/start`);
    return { browser, url };
  }
  return { provider, postern, signIn, time };
}

const callerOf = async (postern: TestPostern, browser: RedirectedBrowser) => {
  const { response } = await browser.open(`${postern.apiUrl}/api/v1/caller/get`);
  const caller: { name?: string; role?: string; byProvider?: boolean } = JSON.parse(await response.text());
  return { ...caller, status: response.status };
};
const operatorNamed = async (postern: TestPostern, name: string) =>
  (await postern.call('operator/search')).list.find((operator: { name: string }) => operator.name === name);

/** Signs an operator in with the password. @param origin of the page */
async function signInByPassword({ apiUrl }: TestPostern, operator: { name: string; tid?: number }, origin = apiUrl) {
  const browser = new RedirectedBrowser({ origin });
  await browser.send(`${apiUrl}/api/v1/operator/signIn`, 'POST', { ...operator, password });
  return browser;
}
const signInOlga = (postern: TestPostern, origin?: string) => signInByPassword(postern, { name: 'Olga' }, origin);

/** Returns the headers of a request that a page of the console sends. */
const headersOf = ({ apiUrl }: TestPostern, { cookies }: RedirectedBrowser) => ({
  ...{ cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '), origin: apiUrl },
});

/** Returns the address at which a signed-in operator connects the account to a user of the provider. */
async function connectionAddress({ apiUrl }: TestPostern, browser: RedirectedBrowser): Promise<string> {
  const answer: { url: string } = JSON.parse(
    await browser.send(`${apiUrl}/api/v1/operator/linkProvider`, 'POST', { currentPassword: password }),
  );
  return answer.url;
}

test('the first sign-in at the provider creates an account with the role that the settings give to the groups of the user', async (t) => {
  const { postern, signIn } = await startWithProvider(t);
  const { browser, url } = await signIn('ann');
  assert.equal(url.href, `${postern.apiUrl}/console/`);
  const caller = await callerOf(postern, browser);
  assert.deepEqual([caller.name, caller.role, caller.byProvider], ['ann@example.com', 'admin', true]);
  const other = await callerOf(postern, (await signIn('bob')).browser);
  assert.deepEqual([other.name, other.role], ['bob@example.com', 'reader']);
  const operator = await operatorNamed(postern, 'ann@example.com');
  assert.deepEqual([operator.signsInAtProvider, operator.roleFromProvider], [true, true]);
});

test('a user who is in no group of the settings cannot sign in, and the audit log says why', async (t) => {
  const { postern, signIn } = await startWithProvider(t);
  const { browser, url } = await signIn('eve');
  assert.match(url.hash, /^#sign-in=providerRefused\..+/);
  assert.equal((await callerOf(postern, browser)).status, 401);
  assert.equal(await operatorNamed(postern, 'eve@example.com'), undefined);
  const { list } = await postern.call('audit/search', { action: 'operator/signIn' });
  assert.deepEqual([list[0].outcome, url.hash.includes(list[0].requestId), /no group/.test(list[0].after)], ['refused', true, true]);
});

test('a user who is in no group of the settings and signs in again and again has to wait, and then adds no audit entries', async (t) => {
  const { postern, signIn } = await startWithProvider(t);
  const addFailure = () => countAttempt(postern.ports, networkKeys('operator', '127.0.0.1'));
  for (let count = 1; count <= freeFailures.network; count += 1) await addFailure();
  const codes: (string | undefined)[] = [];
  for (let attempt = 1; attempt <= 8; attempt += 1) codes.push((await signIn('eve')).url.hash.split('.')[0]);
  assert.deepEqual([codes[0], codes.at(-1)], ['#sign-in=providerRefused', '#sign-in=tooManyFailures']);
  const { totalCount } = await postern.call('audit/search', { action: 'operator/signIn' });
  assert.equal(totalCount, codes.filter((code) => code === codes[0]).length);
});

test('each sign-in sets the role again, and a user who is in no group of the settings any more cannot sign in', async (t) => {
  const { postern, provider, signIn } = await startWithProvider(t);
  await signIn('ann');
  provider.users['ann'] = { ...users.ann, groups: ['staff'] };
  assert.equal((await callerOf(postern, (await signIn('ann')).browser)).role, 'reader');
  provider.users['ann'] = { ...users.ann, groups: [] };
  assert.equal((await callerOf(postern, (await signIn('ann')).browser)).status, 401);
});

test('the etag of an operator changes when the provider changes the role, and when the account is connected or disconnected', async (t) => {
  const { postern, provider, signIn } = await startWithProvider(t);
  const etagOf = async (name: string) => (await operatorNamed(postern, name)).etag;
  await signIn('ann');
  const etagOfAdmin = await etagOf('ann@example.com');
  provider.users['ann'] = { ...users.ann, groups: ['staff'] };
  await signIn('ann');
  assert.notEqual(await etagOf('ann@example.com'), etagOfAdmin);
  const etags = [await etagOf('Olga')];
  const browser = await signInOlga(postern);
  provider.next = 'bob';
  await browser.open(await connectionAddress(postern, browser));
  etags.push(await etagOf('Olga'));
  await postern.call('operator/unlinkProvider', { id: (await operatorNamed(postern, 'Olga')).id });
  etags.push(await etagOf('Olga'));
  assert.equal(new Set(etags).size, 3, etags.join());
});

test('a session that began at the provider ends after an hour', async (t) => {
  const { postern, signIn, time } = await startWithProvider(t);
  const { browser } = await signIn('ann');
  time.shift += 59 * 60_000;
  assert.equal((await callerOf(postern, browser)).status, 200);
  time.shift += 2 * 60_000;
  assert.equal((await callerOf(postern, browser)).status, 401);
});

test('an operator with a password connects the account to the provider, keeps the role, and then signs in both ways', async (t) => {
  const { postern, provider, signIn } = await startWithProvider(t);
  const browser = await signInOlga(postern);
  provider.next = 'bob';
  const { url } = await browser.open(await connectionAddress(postern, browser));
  assert.equal(url.pathname, '/console/settings/account');
  const caller = await callerOf(postern, (await signIn('bob')).browser);
  assert.deepEqual([caller.name, caller.role], ['Olga', 'admin']);
  assert.equal((await postern.send('operator/signIn', { name: 'Olga', password }, { key: null })).status, 200);
  const { list } = await postern.call('audit/search', { action: 'operator/linkProvider' });
  assert.deepEqual([list.length, list[0].actor], [1, 'Olga']);
  const { id } = await operatorNamed(postern, 'Olga');
  await postern.call('operator/unlinkProvider', { id });
  assert.equal((await callerOf(postern, (await signIn('bob')).browser)).name, 'bob@example.com');
});

test('an account is connected to the provider only with its session and its current password', async (t) => {
  const { postern, signIn } = await startWithProvider(t);
  const begin = async (headers: Record<string, string>, currentPassword = password, key: string | null = null) => {
    const answer = await postern.send('operator/linkProvider', { currentPassword }, { key, headers });
    assert.equal(answer.headers.get('set-cookie'), null);
    return [answer.status, answer.body.code];
  };
  const olga = await signInOlga(postern);
  assert.deepEqual(await begin({}), [401, 'keyMissing']);
  assert.deepEqual(await begin({}, password, adminKey), [403, 'roleTooLow']);
  assert.deepEqual(await begin(headersOf(postern, olga), 'another horse'), [403, 'currentPasswordWrong']);
  assert.deepEqual(await begin(headersOf(postern, olga), ''), [400, 'fieldInvalid']);
  assert.deepEqual(await begin({ cookie: headersOf(postern, olga).cookie }), [403, 'otherSite']);
  assert.deepEqual(await begin({ ...headersOf(postern, olga), origin: 'http://evil.example' }), [403, 'otherSite']);
  assert.deepEqual(await begin(headersOf(postern, (await signIn('ann')).browser)), [403, 'currentPasswordWrong'], 'no password');
});

test('if the provider refuses to connect an account, the audit log names the operator who started the connection', async (t) => {
  const { postern, provider } = await startWithProvider(t);
  const browser = await signInOlga(postern);
  provider.next = 'bob';
  const { url } = await browser.open(await connectionAddress(postern, browser), ({ pathname }) => pathname.endsWith('/finish'));
  url.searchParams.delete('code');
  url.searchParams.set('error', 'access_denied');
  await browser.open(url.href);
  const { list } = await postern.call('audit/search', { action: 'operator/linkProvider' });
  assert.deepEqual([list.length, list[0].actor, list[0].outcome], [1, 'Olga', 'refused']);
  assert.equal((await operatorNamed(postern, 'Olga')).signsInAtProvider, false);
});

test('an operator of another tenant cannot connect an account, because the provider signs in operators of tenant 1 only', async (t) => {
  const { postern } = await startWithProvider(t);
  const { id: tid } = await postern.call('tenant/add', { title: 'Other' });
  await postern.call('operator/add', { tid, name: 'Tom', role: 'admin', password, confirmPassword: password });
  const headers = headersOf(postern, await signInByPassword(postern, { name: 'Tom', tid }));
  const { status, body } = await postern.send('operator/linkProvider', { currentPassword: password }, { key: null, headers });
  assert.deepEqual([status, body.code], [403, 'roleTooLow']);
  assert.match(body.detail, /Only operators of tenant 1/);
});

test('wrong passwords delay the next attempts to connect an account, and an operator who lacks the required second factor cannot connect it', async (t) => {
  const { postern } = await startWithProvider(t);
  const browser = await signInOlga(postern);
  const headers = headersOf(postern, browser);
  const begin = (currentPassword: string) => postern.send('operator/linkProvider', { currentPassword }, { key: null, headers });
  await postern.call('tenant/updatePolicy', { secondFactorRequired: true });
  assert.equal((await begin(password)).body.code, 'secondFactorMissing');
  await postern.call('tenant/updatePolicy', { secondFactorRequired: false });
  const statuses = [];
  for (let attempt = 0; attempt < 12; attempt += 1) statuses.push((await begin('another horse')).status);
  assert.deepEqual([statuses[0], statuses.at(-1)], [403, 429]);
});

test('connecting an account is refused after a sign-out, so that the next person at the browser cannot complete it', async (t) => {
  const { postern, provider } = await startWithProvider(t);
  const browser = await signInOlga(postern);
  const address = await connectionAddress(postern, browser);
  await browser.send(`${postern.apiUrl}/api/v1/operator/signOut`, 'POST', {});
  provider.next = 'bob';
  assert.match((await browser.open(address)).url.hash, /^#sign-in=signInNeeded/);
  assert.equal((await operatorNamed(postern, 'Olga')).signsInAtProvider, false);
});

test('an account can be connected behind a proxy that terminates TLS and is not trusted', async (t) => {
  const { postern, provider } = await startWithProvider(t);
  const browser = await signInOlga(postern, `https://${new URL(postern.apiUrl).host}`);
  provider.next = 'bob';
  const finish = await browser.open(await connectionAddress(postern, browser), ({ pathname }) => pathname.endsWith('/finish'));
  const withoutOrigin = new RedirectedBrowser();
  withoutOrigin.cookies.push(...browser.cookies);
  assert.equal((await withoutOrigin.open(finish.url.href)).url.pathname, '/console/settings/account');
});

test('a sign-in that begins in one browser cannot be completed in another', async (t) => {
  const { postern, provider, signIn } = await startWithProvider(t);
  const stranger = new RedirectedBrowser();
  provider.next = 'ann';
  const finish = await stranger.open(`${postern.apiUrl}/api/v1/operator/signIn/start`, ({ pathname }) => pathname.endsWith('/finish'));
  const { url } = await new RedirectedBrowser().open(finish.url.href);
  assert.match(url.hash, /^#sign-in=requestMalformed/);
  assert.equal((await signIn('ann', stranger)).url.hash, '');
});

test('connecting an account is refused if it was started before a change of the password', async (t) => {
  const { postern, provider } = await startWithProvider(t);
  const browser = await signInOlga(postern);
  provider.next = 'bob';
  const finish = await browser.open(await connectionAddress(postern, browser), ({ pathname }) => pathname.endsWith('/finish'));
  const { id } = await operatorNamed(postern, 'Olga');
  const newPassword = 'another horse that reads';
  await postern.call('operator/updatePassword', { id, password: newPassword, confirmPassword: newPassword });
  await browser.open(finish.url.href);
  assert.equal((await operatorNamed(postern, 'Olga')).signsInAtProvider, false);
});

test('an operator without a password cannot add a second factor', async (t) => {
  const { postern, signIn } = await startWithProvider(t);
  const { browser } = await signIn('ann');
  const headers = headersOf(postern, browser);
  const answer = await postern.send('operator/preparePasskey', { currentPassword: 'anything' }, { key: null, headers });
  assert.deepEqual([answer.status, answer.body.code], [403, 'currentPasswordWrong']);
});

test('without POSTERN_OPERATOR_OIDC_ISSUER, operators cannot sign in at a provider', async (t) => {
  const postern = await startPostern(t);
  for (const path of ['signIn/start', 'signIn/finish?state=x'])
    assert.equal(
      (await fetch(`${postern.apiUrl}/api/v1/operator/${path}`, { redirect: 'manual' })).status,
      path === 'signIn/start' ? 404 : 303,
    );
  assert.deepEqual(await (await fetch(`${postern.apiUrl}/api/v1/operator/signInMethods`)).json(), { provider: null });
});

test('an operator without a password cannot sign in with any password, not even an empty one', async (t) => {
  const { postern, signIn } = await startWithProvider(t);
  await signIn('ann');
  for (const secret of ['', ' ', password]) {
    const answer = await postern.send('operator/signIn', { name: 'ann@example.com', password: secret }, { key: null });
    assert.ok([400, 401].includes(answer.status), `${answer.status}`);
  }
});
