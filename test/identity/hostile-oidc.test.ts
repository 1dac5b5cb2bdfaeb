import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { SignJWT } from 'jose';
import { type ForgingProvider, startForgingProvider } from '../parts/forging-openid-provider.ts';
import { until } from '../ports/until.ts';
import { type Start, startPostern } from '../start.ts';
import { linkTo } from '../visit/visiting.ts';
import { RedirectedBrowser } from './redirected-browser.ts';

async function startWithForger(t: TestContext, configuration: object = {}, start: Start = {}) {
  const provider = await startForgingProvider(t);
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' }, ...start });
  const profile = await postern.call('loginprofile/add', {
    ...{ title: 'Example Inc.', typeId: 5 },
    configuration: JSON.stringify({ ...provider.configuration, ...configuration }),
  });
  const share = await linkTo(postern, { authenticationId: profile.id });
  const start_ = (browser: RedirectedBrowser, base = share.base, stop?: (url: URL) => boolean) =>
    browser.open(`${postern.publicUrl}${base}/sign-in/start`, stop);
  /** Begins a sign-in, and returns the address with which the browser would come back. */
  const beginOnly = (browser: RedirectedBrowser) => start_(browser, share.base, ({ pathname }) => pathname.startsWith('/sign-in/oidc/'));
  /** Returns whether somebody has signed in, and why not. */
  async function outcome(browser: RedirectedBrowser) {
    const { body } = await browser.visit(postern, share.base);
    const code = /#sign-in=(\w+)/.exec(browser.visited.join(' '))?.[1] ?? '';
    return { signedIn: body.signIn.signedIn, visitor: body.visitor, code };
  }
  return { provider, postern, profile, share, begin: start_, beginOnly, outcome };
}

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const seconds = () => Math.floor(Date.now() / 1000);

/** ID tokens that must be refused, by what is wrong with them. */
const forgedTokens: Readonly<Record<string, (provider: ForgingProvider) => Promise<string>>> = {
  'that is not signed (alg none)': async (provider) => `${base64({ alg: 'none' })}.${base64(provider.claims())}.`,
  'with an empty signature': async (provider) => `${(await provider.sign(provider.claims())).split('.').slice(0, 2).join('.')}.`,
  'that was changed after it was signed': async (provider) => {
    const [head, , signature] = (await provider.sign(provider.claims())).split('.');
    return `${head}.${base64(provider.claims({ sub: 'admin' }))}.${signature}`;
  },
  'signed by a stranger': async (provider) => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return new SignJWT(provider.claims()).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(privateKey);
  },
  'signed with HMAC by the public key (key confusion)': async (provider) => {
    const signed = `${base64({ alg: 'HS256', kid: 'first' })}.${base64(provider.claims())}`;
    const secret = provider.publicKey.export({ format: 'pem', type: 'spki' });
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  },
  'signed with HMAC by the client secret': async (provider) => {
    const signed = `${base64({ alg: 'HS256' })}.${base64(provider.claims())}`;
    return `${signed}.${createHmac('sha256', provider.configuration.clientSecret).update(signed).digest('base64url')}`;
  },
  'with its own key in the header': async (provider) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwk = publicKey.export({ format: 'jwk' });
    return new SignJWT(provider.claims()).setProtectedHeader({ alg: 'RS256', jwk }).sign(privateKey);
  },
  'of another issuer': (provider) => provider.sign(provider.claims({ iss: 'https://other.example' })),
  'without an issuer': (provider) => provider.sign(provider.claims({ iss: undefined })),
  'for another audience': (provider) => provider.sign(provider.claims({ aud: 'somebody-else' })),
  'for several audiences with another authorized party (azp)': (provider) =>
    provider.sign(provider.claims({ aud: ['postern', 'somebody-else'], azp: 'somebody-else' })),
  'for several audiences without an authorized party': (provider) => provider.sign(provider.claims({ aud: ['postern', 'somebody-else'] })),
  'that has expired': (provider) => provider.sign(provider.claims({ exp: seconds() - 120 })),
  'without an expiry': (provider) => provider.sign(provider.claims({ exp: undefined })),
  'that is not valid yet': (provider) => provider.sign(provider.claims({ nbf: seconds() + 600 })),
  'with a stale nonce': (provider) => provider.sign(provider.claims({ nonce: 'of-another-sign-in' })),
  'without a nonce': (provider) => provider.sign(provider.claims({ nonce: undefined })),
  'with an empty subject': (provider) => provider.sign(provider.claims({ sub: '' })),
  'with a number as subject': (provider) => provider.sign(provider.claims({ sub: 1 })),
  'with a subject of 300 characters': (provider) => provider.sign(provider.claims({ sub: 'x'.repeat(300) })),
  'that is no token': async () => 'no token at all',
};

for (const [what, forge] of Object.entries(forgedTokens))
  test(`an ID token ${what} signs nobody in`, async (t) => {
    const { provider, begin, outcome } = await startWithForger(t);
    provider.idToken = () => forge(provider);
    const browser = new RedirectedBrowser();
    await begin(browser);
    assert.deepEqual(await outcome(browser), { signedIn: false, visitor: null, code: 'providerRefused' });
  });

test('a valid ID token signs in, so that the forged ones fail for what is wrong with them', async (t) => {
  const { begin, outcome } = await startWithForger(t);
  const browser = new RedirectedBrowser();
  await begin(browser);
  assert.deepEqual((await outcome(browser)).visitor, { name: 'Ann', email: 'ann@example.com' });
});

for (const [what, claims] of Object.entries({
  'is not verified': { email_verified: false },
  'is verified by a text': { email_verified: 'true' },
  'lacks email_verified': { email_verified: undefined },
  'is a list': { email: ['ann@example.com'] },
  'contains a line break': { email: 'ann@example.com\r\nBcc: eve@example.com' },
  'folds to another domain (Kelvin sign)': { email: 'ann@\u212Alinik.example' },
}))
  test(`an e-mail address that ${what} is not used`, async (t) => {
    const { provider, begin, outcome } = await startWithForger(t);
    provider.idToken = () => provider.sign(provider.claims(claims));
    const browser = new RedirectedBrowser();
    await begin(browser);
    assert.deepEqual((await outcome(browser)).visitor, { name: 'Ann', email: '' });
  });

test('groups that the provider leaves out because there are too many (overage) refuse the sign-in with the reason', async (t) => {
  const { provider, postern, begin, outcome } = await startWithForger(t, { groupsClaim: 'groups' });
  provider.idToken = () =>
    provider.sign(provider.claims({ _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.example' } } }));
  const browser = new RedirectedBrowser();
  await begin(browser);
  assert.equal((await outcome(browser)).code, 'providerRefused');
  await until(async () => (await postern.call('audit/search', { outcome: 'refused' })).list.length > 0);
  assert.match(JSON.stringify((await postern.call('audit/search', { outcome: 'refused' })).list), /too many/);
  provider.userinfo = { groups: ['editors'] };
  const again = new RedirectedBrowser();
  await begin(again);
  assert.equal((await outcome(again)).signedIn, true, 'unless the userinfo endpoint has the groups');
});

test('userinfo of another subject signs nobody in', async (t) => {
  const { provider, begin, outcome } = await startWithForger(t, { groupsClaim: 'groups' });
  provider.userinfo = { sub: 'eve', groups: ['editors'] };
  const browser = new RedirectedBrowser();
  await begin(browser);
  assert.equal((await outcome(browser)).code, 'providerRefused');
});

test('a sign-in that another browser has begun, or nobody, signs nobody in', async (t) => {
  const { postern, profile, beginOnly, outcome } = await startWithForger(t);
  const attacker = new RedirectedBrowser();
  const { url } = await beginOnly(attacker);
  const victim = new RedirectedBrowser();
  await beginOnly(victim);
  assert.equal((await victim.open(url.href)).response.status, 400);
  assert.equal((await victim.open(`${postern.publicUrl}/sign-in/oidc/${profile.id}?code=a-code&state=invented`)).response.status, 400);
  assert.equal((await victim.open(`${postern.publicUrl}/sign-in/oidc/${profile.id}`)).response.status, 400);
  assert.equal((await outcome(victim)).signedIn, false);
});

test('the address with which a browser comes back works once', async (t) => {
  const { postern, beginOnly } = await startWithForger(t);
  const browser = new RedirectedBrowser();
  const { url } = await beginOnly(browser);
  assert.equal((await browser.open(url.href)).response.status, 200);
  assert.equal((await browser.open(url.href)).response.status, 400);
  assert.equal((await postern.call('audit/search', { action: 'sign-in' })).list.length, 1);
});

test('a response of one provider is not taken for that of another one (mix-up)', async (t) => {
  const { provider, postern, profile, begin, beginOnly, outcome } = await startWithForger(t);
  const other = await postern.call('loginprofile/add', {
    title: 'Other',
    typeId: 5,
    configuration: JSON.stringify(provider.configuration),
  });
  const browser = new RedirectedBrowser();
  const { url } = await beginOnly(browser);
  url.pathname = url.pathname.replace(String(profile.id), String(other.id));
  assert.equal((await browser.open(url.href)).response.status, 400, 'at the address of another profile');
  provider.returned['iss'] = 'https://other.example';
  const mixed = new RedirectedBrowser();
  await begin(mixed);
  assert.equal((await outcome(mixed)).code, 'providerRefused', 'with another issuer in the address (RFC 9207)');
});

test('a cookie that this installation has not encrypted, or for another purpose, signs nobody in', async (t) => {
  const { postern, beginOnly } = await startWithForger(t);
  for (const forged of ['x', 'eyJzdGF0ZSI6IiJ9', postern.ports.vault.seal('another purpose', '{}')]) {
    const browser = new RedirectedBrowser();
    const { url } = await beginOnly(browser);
    const cookie = browser.cookies.find(({ name }) => name.includes('oidc')) ?? assert.fail();
    browser.cookies.splice(0, browser.cookies.length, { ...cookie, value: forged });
    assert.equal((await browser.open(url.href)).response.status, 400);
  }
});

test('parameters of the provider cannot lead the browser elsewhere (open redirect)', async (t) => {
  const { provider, postern, share, begin, beginOnly } = await startWithForger(t);
  Object.assign(provider.returned, { redirect_uri: 'https://evil.example', next: '//evil.example', to: 'https://evil.example' });
  const browser = new RedirectedBrowser();
  assert.equal((await begin(browser)).url.href, postern.publicUrl + share.base);
  Object.assign(provider.returned, {
    error: 'access_denied',
    error_description: '<script>alert(1)</script>\r\nLocation: https://evil.example',
  });
  const refused = new RedirectedBrowser();
  const { url } = await begin(refused);
  assert.equal(url.origin + url.pathname, postern.publicUrl + share.base);
  assert.match(url.hash, /^#sign-in=providerRefused\.[\w-]+$/);
  const spoofed = new RedirectedBrowser();
  const back = (await beginOnly(spoofed)).url;
  const cookie = spoofed.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const answer = await fetch(back, { redirect: 'manual', headers: { cookie, 'x-forwarded-host': 'evil.example' } });
  assert.ok((answer.headers.get('location') ?? '').startsWith(`${postern.publicUrl}/`));
});

test('discovery of another issuer, or with an endpoint that is no address, signs nobody in', async (t) => {
  for (const over of [{ issuer: 'https://other.example' }, { authorization_endpoint: 'javascript:alert(1)' }]) {
    const { provider, begin, outcome } = await startWithForger(t);
    const { issuer } = provider;
    provider.responses.set('/.well-known/openid-configuration', (_, response) => {
      const metadata = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        ...over,
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
    });
    const browser = new RedirectedBrowser();
    await begin(browser);
    assert.deepEqual(await outcome(browser), { signedIn: false, visitor: null, code: 'providerRefused' });
  }
});

test('endpoints in a private network are not asked, wherever the provider has them (metadata address of a cloud)', async (t) => {
  const { provider, begin, outcome } = await startWithForger(t);
  const { issuer } = provider;
  for (const endpoint of ['http://169.254.169.254/latest/meta-data', 'https://[fd00::1]/token', 'http://10.0.0.1/token']) {
    provider.responses.set('/.well-known/openid-configuration', (_, response) => {
      const metadata = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: endpoint, jwks_uri: `${issuer}/keys` };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
    });
    const browser = new RedirectedBrowser();
    await begin(browser);
    assert.equal((await outcome(browser)).signedIn, false, endpoint);
  }
});

test('a redirect of a provider is not followed', async (t) => {
  const { provider, begin, outcome } = await startWithForger(t);
  for (const path of ['/.well-known/openid-configuration', '/token', '/keys']) {
    provider.responses.clear();
    provider.responses.set(path, (_, response) => void response.writeHead(307, { location: `${provider.issuer}/elsewhere` }).end());
    const browser = new RedirectedBrowser();
    await begin(browser);
    assert.equal((await outcome(browser)).signedIn, false, path);
  }
  assert.ok(!provider.requested.includes('/elsewhere'));
});

test('an issuer in a private network, with a password or for every organization is refused', async (t) => {
  const { postern } = await startWithForger(t, {}, { environment: {} });
  const add = (issuer: string) =>
    postern.send('loginprofile/add', {
      title: 'X',
      typeId: 5,
      configuration: JSON.stringify({ issuer, clientId: 'x', clientSecret: 'y' }),
    });
  for (const issuer of [
    'http://login.example.com',
    'https://user:secret@login.example.com',
    'https://login.example.com/?x=1',
    'https://login.microsoftonline.com/common/v2.0',
    'https://login.microsoftonline.com/organizations/v2.0',
    'ftp://login.example.com',
  ]) {
    const { status, body } = await add(issuer);
    assert.deepEqual([status, body.errors[0].field], [400, 'configuration'], issuer);
    assert.match(body.detail, /issuer/);
  }
  const metadata = await postern.call('loginprofile/add', {
    ...{ title: 'Y', typeId: 5 },
    configuration: JSON.stringify({ issuer: 'https://169.254.169.254', clientId: 'x', clientSecret: 'y' }),
  });
  const share = await linkTo(postern, { authenticationId: metadata.id });
  const browser = new RedirectedBrowser();
  const { url } = await browser.open(`${postern.publicUrl}${share.base}/sign-in/start`);
  assert.match(url.hash, /^#sign-in=providerAway/);
});

const badResponses: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  'a response that is too long': (response) => response.setHeader('content-type', 'application/json').end('x'.repeat(1 << 20)),
  nonsense: (response) => response.setHeader('content-type', 'application/json').end('{"issuer":'),
  'an error': (response) => response.writeHead(500).end(),
  nothing: () => {},
};
for (const [what, respond] of Object.entries(badResponses))
  test(`a provider that sends ${what} affects its own profile alone, and only until it works again`, { timeout: 60_000 }, async (t) => {
    const { provider, postern, begin, outcome } = await startWithForger(t);
    const open = await linkTo(postern);
    provider.responses.set('/.well-known/openid-configuration', (_, response) => void respond(response));
    const browser = new RedirectedBrowser();
    const beginning = begin(browser);
    assert.equal((await postern.visit(`${open.base}/list`)).status, 200);
    await beginning;
    assert.match((await outcome(browser)).code, /^provider(Away|Refused)$/);
    provider.responses.clear();
    await until(async () => {
      const later = new RedirectedBrowser();
      await begin(later);
      return (await outcome(later)).signedIn;
    });
  });

test('a statement about another user ends the session that it should renew', async (t) => {
  const { provider, postern, share, begin } = await startWithForger(t);
  const browser = new RedirectedBrowser();
  await begin(browser);
  provider.idToken = () => provider.sign(provider.claims({ sub: 'admin', nonce: undefined }));
  const past = Date.now() - 11 * 60_000;
  const row = await postern.ports.store.read.selectFrom('visit_session').select('identity').executeTakeFirstOrThrow();
  const identity = JSON.stringify({ ...JSON.parse(row.identity ?? '{}'), claimsAt: past });
  await postern.ports.store.write((tx) => tx.updateTable('visit_session').set({ identity }).execute(), 'job');
  const { status, body } = await browser.visit(postern, share.base);
  assert.ok(status === 401 || body.visitor === null || body.code === 'providerRefused', JSON.stringify(body));
});

const logoutEvent = { 'http://schemas.openid.net/event/backchannel-logout': {} };
const logoutClaims = (provider: ForgingProvider, over: object = {}) => {
  const { iss, aud, sub, iat } = provider.claims();
  return { ...{ iss, aud, sub, iat, jti: 'one', events: logoutEvent }, ...over };
};

async function startSignedIn(t: TestContext) {
  const started = await startWithForger(t);
  const { provider, postern, profile, share, begin } = started;
  provider.idToken = () => provider.sign(provider.claims({ sid: 'session-1' }));
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
  return { ...started, browser, logout };
}

test('a user or a session that the provider signs out (back-channel logout) is signed out at once', async (t) => {
  for (const named of [{ sid: undefined }, { sub: undefined, sid: 'session-1' }, { sid: 'session-1' }]) {
    const { provider, logout } = await startSignedIn(t);
    assert.deepEqual(await logout(await provider.sign(logoutClaims(provider, named))), [200, false]);
  }
});

test('a logout token that is not valid, or names somebody else, ends no session', async (t) => {
  const { provider, logout } = await startSignedIn(t);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const stranger = (claims: Record<string, unknown>) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(privateKey);
  const refused = {
    'another user': [200, await provider.sign(logoutClaims(provider, { sub: 'bob' }))],
    'another session': [200, await provider.sign(logoutClaims(provider, { sid: 'session-2' }))],
    'signed by a stranger': [400, await stranger(logoutClaims(provider))],
    'not signed': [400, `${base64({ alg: 'none' })}.${base64(logoutClaims(provider))}.`],
    'an ID token': [400, await provider.sign(provider.claims({ sid: 'session-1' }))],
    'with a nonce': [400, await provider.sign(logoutClaims(provider, { nonce: 'x' }))],
    'of another issuer': [400, await provider.sign(logoutClaims(provider, { iss: 'https://other.example' }))],
    'for another client': [400, await provider.sign(logoutClaims(provider, { aud: 'somebody-else' }))],
    'an old one': [400, await provider.sign(logoutClaims(provider, { iat: seconds() - 3600 }))],
    'without an event': [400, await provider.sign(logoutClaims(provider, { events: {} }))],
    'without a user or a session': [400, await provider.sign(logoutClaims(provider, { sub: undefined }))],
    'no token': [400, 'x'],
  } as const;
  for (const [what, [status, token]] of Object.entries(refused)) assert.deepEqual(await logout(token), [status, true], what);
});
