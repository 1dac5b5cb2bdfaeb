import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { SignJWT } from 'jose';
import type { ForgingProvider } from '../parts/forging-openid-provider.ts';
import { until } from '../ports/until.ts';
import { base64urlJson, nowInSeconds, startWithForgingProvider } from './forged-sign-in.ts';
import { RedirectedBrowser } from './redirected-browser.ts';

const logoutEvent = { 'http://schemas.openid.net/event/backchannel-logout': {} };
const logoutClaims = (provider: ForgingProvider, over: object = {}) => {
  const { iss, aud, sub, iat, exp } = provider.claims();
  return { ...{ iss, aud, sub, iat, exp, jti: 'one', events: logoutEvent }, ...over };
};

/** Starts Postern with a visitor who has signed in. @param session `sid` in the ID token; null: none */
async function startSignedIn(t: TestContext, session: string | null = 'session-1') {
  const setup = await startWithForgingProvider(t);
  const { provider, postern, profile, share, begin } = setup;
  provider.idToken = () => provider.sign(provider.claims({ sid: session ?? undefined }));
  const browser = new RedirectedBrowser();
  await begin(browser);
  /** Sends a logout token. @returns the status, and whether the browser is still signed in */
  async function logout(token: string): Promise<[number, boolean]> {
    const { status } = await postern.visit(`/sign-in/oidc/${profile.id}/logout`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      body: new URLSearchParams({ logout_token: token }).toString(),
    });
    return [status, (await browser.visit(postern, share.base)).body.signIn.signedIn];
  }
  return { ...setup, browser, logout };
}

test('a user or a session that the provider signs out (back-channel logout) is signed out at once', async (t) => {
  for (const claims of [{ sid: undefined }, { sub: undefined, sid: 'session-1' }, { sid: 'session-1' }]) {
    const { provider, logout } = await startSignedIn(t);
    assert.deepEqual(await logout(await provider.sign(logoutClaims(provider, claims))), [200, false]);
  }
});

test('a logout token that is invalid, or names another user or session, ends no session', async (t) => {
  const { provider, logout } = await startSignedIn(t);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const signByStranger = (claims: Record<string, unknown>) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(privateKey);
  const tokens = {
    'another user': [200, await provider.sign(logoutClaims(provider, { sub: 'bob' }))],
    'another session': [200, await provider.sign(logoutClaims(provider, { sid: 'session-2' }))],
    'signed by a stranger': [400, await signByStranger(logoutClaims(provider))],
    'not signed': [400, `${base64urlJson({ alg: 'none' })}.${base64urlJson(logoutClaims(provider))}.`],
    'an ID token': [400, await provider.sign(provider.claims({ sid: 'session-1' }))],
    'with a nonce': [400, await provider.sign(logoutClaims(provider, { nonce: 'x' }))],
    'of another issuer': [400, await provider.sign(logoutClaims(provider, { iss: 'https://other.example' }))],
    'for another client': [400, await provider.sign(logoutClaims(provider, { aud: 'somebody-else' }))],
    'an old one': [400, await provider.sign(logoutClaims(provider, { iat: nowInSeconds() - 3600 }))],
    'without an expiry': [400, await provider.sign(logoutClaims(provider, { exp: undefined }))],
    'an expired one': [400, await provider.sign(logoutClaims(provider, { exp: nowInSeconds() - 120 }))],
    'of another type': [400, await provider.sign(logoutClaims(provider), 'at+jwt')],
    'without an event': [400, await provider.sign(logoutClaims(provider, { events: {} }))],
    'without a user or a session': [400, await provider.sign(logoutClaims(provider, { sub: undefined }))],
    'no token': [400, 'x'],
  } as const;
  for (const [what, [status, token]] of Object.entries(tokens)) assert.deepEqual(await logout(token), [status, true], what);
});

test('if the ID token had no sid, a logout token with a sid also ends the session of its user, and the audit log records this', async (t) => {
  const { provider, postern, logout } = await startSignedIn(t, null);
  assert.deepEqual(await logout(await provider.sign(logoutClaims(provider, { sid: 'session-1' }), 'logout+jwt')), [200, false]);
  await until(async () => (await postern.call('audit/search', { action: 'sign-out' })).list.length > 0);
  const [entry] = (await postern.call('audit/search', { action: 'sign-out' })).list;
  assert.deepEqual([entry.actor, JSON.parse(entry.after)], ['Ann', { by: 'provider' }]);
});

test('a sid of thousands of characters is accepted but not stored; any logout token for the user then ends the session', async (t) => {
  const sid = 's'.repeat(30_000);
  const { provider, postern, logout } = await startSignedIn(t, sid);
  const session = await postern.ports.store.read.selectFrom('visit_session').select('provider_session').executeTakeFirst();
  assert.equal(session?.provider_session, null);
  assert.deepEqual(await logout(await provider.sign(logoutClaims(provider, { sid: 'session-1' }))), [200, false]);
});

test('a logout request for a profile that does not exist gets 404, whatever the id in the address is', async (t) => {
  const { provider, postern } = await startSignedIn(t);
  const token = await provider.sign(logoutClaims(provider));
  const requestCount = provider.requestedPaths.length;
  for (const id of ['9999', 'abc', '1.5', '1e20', '-1', '0', '99999999999999999999', '%20']) {
    const { status } = await postern.visit(`/sign-in/oidc/${id}/logout`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      body: new URLSearchParams({ logout_token: token }).toString(),
    });
    assert.equal(status, 404, id);
  }
  assert.equal(provider.requestedPaths.length, requestCount, 'no request reaches the provider');
});

test('a visitor who is not signed in is not sent to the provider to sign out', async (t) => {
  const { provider, postern, profile, share } = await startSignedIn(t);
  const requestCount = provider.requestedPaths.length;
  const cookie = `postern-${profile.id}=1.${'x'.repeat(43)}`;
  assert.equal((await postern.visit(`${share.base}/sign-out`, { method: 'POST', headers: { cookie } })).status, 204);
  assert.equal(provider.requestedPaths.length, requestCount);
});

test('a visitor can sign out of Postern even if the secrets of the profile are lost', async (t) => {
  const { postern, share, browser } = await startSignedIn(t);
  const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  await postern.ports.store.write((tx) => tx.updateTable('login_profile').set({ configuration: 'lost' }).execute(), 'job');
  const { status, headers } = await postern.visit(`${share.base}/sign-out`, { method: 'POST', headers: { cookie } });
  assert.equal(status, 204);
  assert.match(headers.get('set-cookie') ?? '', /Max-Age=0/);
  assert.equal((await postern.visit(`${share.base}/list`, { headers: { cookie } })).status, 401);
});
