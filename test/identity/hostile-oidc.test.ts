import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignJWT } from 'jose';
import { type ForgingProvider, startForgingProvider } from '../parts/forging-openid-provider.ts';
import { until } from '../ports/until.ts';
import { createShare } from '../visit/visiting.ts';
import { base64urlJson, nowInSeconds, startWithForgingProvider } from './forged-sign-in.ts';
import { RedirectedBrowser } from './redirected-browser.ts';

/** Functions that create an ID token that must be refused. The name of each function says what is wrong with its token. */
const forgedTokens: Readonly<Record<string, (provider: ForgingProvider) => Promise<string>>> = {
  'that is not signed (alg none)': async (provider) => `${base64urlJson({ alg: 'none' })}.${base64urlJson(provider.claims())}.`,
  'with an empty signature': async (provider) => `${(await provider.sign(provider.claims())).split('.').slice(0, 2).join('.')}.`,
  'that was changed after it was signed': async (provider) => {
    const [head, , signature] = (await provider.sign(provider.claims())).split('.');
    return `${head}.${base64urlJson(provider.claims({ sub: 'admin' }))}.${signature}`;
  },
  'signed by a stranger': async (provider) => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return new SignJWT(provider.claims()).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(privateKey);
  },
  'signed with HMAC and the public key as the secret (key confusion)': async (provider) => {
    const signingInput = `${base64urlJson({ alg: 'HS256', kid: 'first' })}.${base64urlJson(provider.claims())}`;
    const secret = provider.publicKey.export({ format: 'pem', type: 'spki' });
    return `${signingInput}.${createHmac('sha256', secret).update(signingInput).digest('base64url')}`;
  },
  'signed with HMAC and the client secret': async (provider) => {
    const signingInput = `${base64urlJson({ alg: 'HS256' })}.${base64urlJson(provider.claims())}`;
    return `${signingInput}.${createHmac('sha256', provider.configuration.clientSecret).update(signingInput).digest('base64url')}`;
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
  'that has expired': (provider) => provider.sign(provider.claims({ exp: nowInSeconds() - 120 })),
  'without an expiry': (provider) => provider.sign(provider.claims({ exp: undefined })),
  'that is not valid yet': (provider) => provider.sign(provider.claims({ nbf: nowInSeconds() + 600 })),
  'with a stale nonce': (provider) => provider.sign(provider.claims({ nonce: 'of-another-sign-in' })),
  'without a nonce': (provider) => provider.sign(provider.claims({ nonce: undefined })),
  'with an empty subject': (provider) => provider.sign(provider.claims({ sub: '' })),
  'with a number as subject': (provider) => provider.sign(provider.claims({ sub: 1 })),
  'with a subject of 300 characters': (provider) => provider.sign(provider.claims({ sub: 'x'.repeat(300) })),
  'that is no token': async () => 'no token at all',
};

for (const [what, forge] of Object.entries(forgedTokens))
  test(`an ID token ${what} signs nobody in`, async (t) => {
    const { provider, begin, outcome } = await startWithForgingProvider(t);
    provider.idToken = () => forge(provider);
    const browser = new RedirectedBrowser();
    await begin(browser);
    assert.deepEqual(await outcome(browser), { signedIn: false, visitor: null, code: 'providerRefused' });
  });

test('a valid ID token signs the visitor in, so each forged token was refused for its own defect', async (t) => {
  const { begin, outcome } = await startWithForgingProvider(t);
  const browser = new RedirectedBrowser();
  await begin(browser);
  assert.deepEqual((await outcome(browser)).visitor, { name: 'Ann', email: 'ann@example.com' });
});

for (const [what, claims] of Object.entries({
  'is not verified': { email_verified: false },
  'has email_verified as a string': { email_verified: 'true' },
  'lacks email_verified': { email_verified: undefined },
  'is a list': { email: ['ann@example.com'] },
  'contains a line break': { email: 'ann@example.com\r\nBcc: eve@example.com' },
  'folds to another domain (Kelvin sign)': { email: 'ann@\u212Alinik.example' },
}))
  test(`an e-mail address that ${what} is not used`, async (t) => {
    const { provider, begin, outcome } = await startWithForgingProvider(t);
    provider.idToken = () => provider.sign(provider.claims(claims));
    const browser = new RedirectedBrowser();
    await begin(browser);
    assert.deepEqual((await outcome(browser)).visitor, { name: 'Ann', email: '' });
  });

test('if a user has too many groups for the ID token (overage), the sign-in is refused with the reason, unless userinfo has them', async (t) => {
  const { provider, postern, begin, outcome } = await startWithForgingProvider(t, { groupsClaim: 'groups' });
  provider.idToken = () =>
    provider.sign(provider.claims({ _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.example' } } }));
  const browser = new RedirectedBrowser();
  await begin(browser);
  assert.equal((await outcome(browser)).code, 'providerRefused');
  await until(async () => (await postern.call('audit/search', { outcome: 'refused' })).list.length > 0);
  assert.match(JSON.stringify((await postern.call('audit/search', { outcome: 'refused' })).list), /too many/);
  const many = Array.from({ length: 999 }, (_, number) => `${'x'.repeat(200)} ${number}`);
  provider.userinfo = { groups: ['editors', ...many] };
  const nextBrowser = new RedirectedBrowser();
  await begin(nextBrowser);
  assert.equal((await outcome(nextBrowser)).signedIn, true, 'the userinfo endpoint has the groups');
});

test('userinfo of another subject signs nobody in', async (t) => {
  const { provider, begin, outcome } = await startWithForgingProvider(t, { groupsClaim: 'groups' });
  provider.userinfo = { sub: 'eve', groups: ['editors'] };
  const browser = new RedirectedBrowser();
  await begin(browser);
  assert.equal((await outcome(browser)).code, 'providerRefused');
});

test('the response to a sign-in that another browser began, or that nobody began, signs nobody in', async (t) => {
  const { postern, profile, beginOnly, outcome } = await startWithForgingProvider(t);
  const attacker = new RedirectedBrowser();
  const { url } = await beginOnly(attacker);
  const victim = new RedirectedBrowser();
  await beginOnly(victim);
  assert.equal((await victim.open(url.href)).response.status, 400);
  assert.equal((await victim.open(`${postern.publicUrl}/sign-in/oidc/${profile.id}?code=a-code&state=invented`)).response.status, 400);
  assert.equal((await victim.open(`${postern.publicUrl}/sign-in/oidc/${profile.id}`)).response.status, 400);
  assert.equal((await outcome(victim)).signedIn, false);
});

test('the address at which the browser returns from the provider works only once', async (t) => {
  const { postern, beginOnly } = await startWithForgingProvider(t);
  const browser = new RedirectedBrowser();
  const { url } = await beginOnly(browser);
  assert.equal((await browser.open(url.href)).response.status, 200);
  assert.equal((await browser.open(url.href)).response.status, 400);
  assert.equal((await postern.call('audit/search', { action: 'sign-in' })).list.length, 1);
});

test('a response of one provider is not accepted as a response of another one (mix-up)', async (t) => {
  const { provider, postern, profile, begin, beginOnly, outcome } = await startWithForgingProvider(t);
  const other = await postern.call('loginprofile/add', {
    title: 'Other',
    typeId: 5,
    configuration: JSON.stringify(provider.configuration),
  });
  const browser = new RedirectedBrowser();
  const { url } = await beginOnly(browser);
  url.pathname = url.pathname.replace(String(profile.id), String(other.id));
  assert.equal((await browser.open(url.href)).response.status, 400, 'at the address of another profile');
  provider.returnParameters['iss'] = 'https://other.example';
  const otherBrowser = new RedirectedBrowser();
  await begin(otherBrowser);
  assert.equal((await outcome(otherBrowser)).code, 'providerRefused', 'with another issuer in the address (RFC 9207)');
});

test('a cookie that this installation has not encrypted, or has encrypted for another purpose, signs nobody in', async (t) => {
  const { postern, beginOnly } = await startWithForgingProvider(t);
  for (const forgedValue of ['x', 'eyJzdGF0ZSI6IiJ9', postern.ports.vault.seal('another purpose', '{}')]) {
    const browser = new RedirectedBrowser();
    const { url } = await beginOnly(browser);
    const cookie = browser.cookies.find(({ name }) => name.includes('oidc')) ?? assert.fail();
    browser.cookies.splice(0, browser.cookies.length, { ...cookie, value: forgedValue });
    assert.equal((await browser.open(url.href)).response.status, 400);
  }
});

test('neither parameters of the provider nor X-Forwarded-Host can send the browser to another site (open redirect)', async (t) => {
  const { provider, postern, share, begin, beginOnly } = await startWithForgingProvider(t);
  Object.assign(provider.returnParameters, { redirect_uri: 'https://evil.example', next: '//evil.example', to: 'https://evil.example' });
  const browser = new RedirectedBrowser();
  assert.equal((await begin(browser)).url.href, postern.publicUrl + share.base);
  Object.assign(provider.returnParameters, {
    error: 'access_denied',
    error_description: '<script>alert(1)</script>\r\nLocation: https://evil.example',
  });
  const refusedBrowser = new RedirectedBrowser();
  const { url } = await begin(refusedBrowser);
  assert.equal(url.origin + url.pathname, postern.publicUrl + share.base);
  assert.match(url.hash, /^#sign-in=providerRefused\.[\w-]+$/);
  const spoofingBrowser = new RedirectedBrowser();
  const returnUrl = (await beginOnly(spoofingBrowser)).url;
  const cookie = spoofingBrowser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const answer = await fetch(returnUrl, { redirect: 'manual', headers: { cookie, 'x-forwarded-host': 'evil.example' } });
  assert.ok((answer.headers.get('location') ?? '').startsWith(`${postern.publicUrl}/`));
});

test('a discovery document of another issuer, or with an endpoint that is no http(s) URL, signs nobody in', async (t) => {
  for (const over of [{ issuer: 'https://other.example' }, { authorization_endpoint: 'javascript:alert(1)' }]) {
    const { provider, begin, outcome } = await startWithForgingProvider(t);
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

test('a provider whose token endpoint is in a private network (such as the metadata address of a cloud) signs nobody in', async (t) => {
  const { provider, begin, outcome } = await startWithForgingProvider(t);
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
  const { provider, begin, outcome } = await startWithForgingProvider(t);
  for (const path of ['/.well-known/openid-configuration', '/token', '/keys']) {
    provider.responses.clear();
    provider.responses.set(path, (_, response) => void response.writeHead(307, { location: `${provider.issuer}/elsewhere` }).end());
    const browser = new RedirectedBrowser();
    await begin(browser);
    assert.equal((await outcome(browser)).signedIn, false, path);
  }
  assert.ok(!provider.requestedPaths.includes('/elsewhere'));
});

test('an issuer URL that is invalid or does not stand for a single organization is refused, and an issuer in a private network signs nobody in', async (t) => {
  const { postern } = await startWithForgingProvider(t, {}, { environment: {} });
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
    'https://login.microsoftonline.com/Common/v2.0',
    'https://login.microsoftonline.com/%63ommon/v2.0',
    'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    'https://login.microsoftonline.com/organizations/v2.0',
    'ftp://login.example.com',
  ]) {
    const { status, body } = await add(issuer);
    assert.deepEqual([status, body.errors[0].field], [400, 'configuration'], issuer);
    assert.match(body.detail, /issuer/);
  }
  const privateProfile = await postern.call('loginprofile/add', {
    ...{ title: 'Y', typeId: 5 },
    configuration: JSON.stringify({ issuer: 'https://169.254.169.254', clientId: 'x', clientSecret: 'y' }),
  });
  const share = await createShare(postern, { authenticationId: privateProfile.id });
  const browser = new RedirectedBrowser();
  const { url } = await browser.open(`${postern.publicUrl}${share.base}/sign-in/start`);
  assert.match(url.hash, /^#sign-in=providerAway/);
});

const pollInterval = 200; // ms; not shorter, because Postern limits the sign-ins that one network begins in a minute

const badResponses: Readonly<Record<string, readonly [string, (response: ServerResponse) => unknown]>> = {
  'a response that is too long': [
    'providerAway',
    (response) => response.setHeader('content-type', 'application/json').end('x'.repeat(1 << 20)),
  ],
  'metadata with thousands of values': [
    'providerAway',
    (response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ x: Array.from({ length: 3000 }, () => ({})) })),
  ],
  'invalid JSON': ['providerRefused', (response) => response.setHeader('content-type', 'application/json').end('{"issuer":')],
  'an error': ['providerAway', (response) => response.writeHead(500).end()],
  'status 429 (too many requests)': ['providerAway', (response) => response.writeHead(429).end()],
  nothing: ['providerAway', () => {}],
};
for (const [what, [code, respond]] of Object.entries(badResponses))
  test(`a provider that sends ${what} affects only its own profile, and only until the provider works again`, async (t) => {
    const { provider, postern, begin, outcome } = await startWithForgingProvider(t);
    const otherShare = await createShare(postern);
    provider.responses.set('/.well-known/openid-configuration', (_, response) => void respond(response));
    const browser = new RedirectedBrowser();
    const beginning = begin(browser);
    assert.equal((await postern.visit(`${otherShare.base}/list`)).status, 200);
    await beginning;
    assert.equal((await outcome(browser)).code, code);
    const { length } = provider.requestedPaths;
    await begin(new RedirectedBrowser());
    assert.equal(provider.requestedPaths.length, length, 'the provider gets no further request at once');
    provider.responses.clear();
    await until(async () => {
      await sleep(pollInterval);
      const later = new RedirectedBrowser();
      await begin(later);
      return (await outcome(later)).signedIn;
    });
  });

test('a provider that sends an ID token but never its keys is unavailable', async (t) => {
  const { provider, begin, outcome } = await startWithForgingProvider(t);
  const { responses } = provider;
  responses.set('/token', (_, response) => {
    responses.set('/keys', () => {}); // never answered
    void provider.idToken().then((id_token) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ access_token: 'x', token_type: 'Bearer', id_token }));
    });
  });
  const browser = new RedirectedBrowser();
  await begin(browser);
  assert.equal((await outcome(browser)).code, 'providerAway');
});

test('a failure of one profile does not affect another profile of the same provider', async (t) => {
  const { provider, postern, begin, outcome } = await startWithForgingProvider(t);
  const configuration = JSON.stringify({ ...provider.configuration, clientId: 'postern', clientSecret: 'another secret' });
  const other = await postern.call('loginprofile/add', { title: 'Other', typeId: 5, configuration });
  const otherShare = await createShare(postern, { authenticationId: other.id });
  provider.responses.set('/token', (request) => request.socket.destroy());
  const browser = new RedirectedBrowser();
  await begin(browser);
  assert.equal((await outcome(browser)).code, 'providerAway');
  provider.responses.clear();
  const visitor = new RedirectedBrowser();
  await begin(visitor, otherShare.base);
  assert.equal((await visitor.visit(postern, otherShare.base)).body.visitor.name, 'Ann');
});

const jsonError = (status: number, error: string) => (_: unknown, response: ServerResponse) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));

test('only what a browser can cause counts as a failed attempt: a faulty provider locks out no network', async (t) => {
  const { provider, postern, begin, outcome } = await startWithForgingProvider(t);
  const failures = async () => (await postern.ports.store.read.selectFrom('failure').selectAll().execute()).length;
  async function failingSignIn(): Promise<string> {
    const browser = new RedirectedBrowser();
    await begin(browser);
    return (await outcome(browser)).code;
  }
  provider.responses.set('/token', (_, response) => void response.writeHead(502).end('<h1>Bad Gateway</h1>'));
  assert.equal(await failingSignIn(), 'providerAway');
  provider.responses.set('/token', jsonError(401, 'invalid_client'));
  assert.equal(await failingSignIn(), 'providerRefused');
  Object.assign(provider.returnParameters, { error: 'temporarily_unavailable' });
  assert.equal(await failingSignIn(), 'providerAway');
  assert.equal(await failures(), 0);
  Object.assign(provider.returnParameters, { error: 'access_denied' });
  assert.equal(await failingSignIn(), 'providerRefused');
  const countPerAttempt = await failures();
  assert.ok(countPerAttempt > 0, 'an error in the address');
  delete provider.returnParameters['error'];
  provider.responses.set('/token', jsonError(400, 'invalid_grant'));
  assert.equal(await failingSignIn(), 'providerRefused');
  assert.equal(await failures(), 2 * countPerAttempt, 'a code that the provider does not know');
});

test('after a profile is changed to another provider, a code from the old provider is not sent to the new one', async (t) => {
  const { provider, postern, profile, beginOnly } = await startWithForgingProvider(t);
  const other = await startForgingProvider(t);
  const browser = new RedirectedBrowser();
  const { url } = await beginOnly(browser);
  await postern.call('loginprofile/update', { id: profile.id, configuration: JSON.stringify(other.configuration) });
  const back = await browser.open(url.href);
  assert.match(back.url.hash, /^#sign-in=requestMalformed/);
  assert.deepEqual([other.requestedPaths, provider.tokenRequests], [[], []]);
});

test('a code may contain a question mark', async (t) => {
  const { provider, begin, outcome, postern, profile } = await startWithForgingProvider(t);
  const browser = new RedirectedBrowser();
  const { url } = await begin(browser, undefined, ({ pathname }) => pathname.startsWith('/sign-in/oidc/'));
  const query = url.search.replace('code=a-code', 'code=a?code');
  await browser.open(`${postern.publicUrl}/sign-in/oidc/${profile.id}${query}`);
  assert.equal((await outcome(browser)).signedIn, true);
  assert.equal(provider.tokenRequests.at(-1)?.get('code'), 'a?code');
});

test('a browser keeps the cookies of its four newest sign-ins, and none after it has returned from the provider for all of them', async (t) => {
  const { beginOnly } = await startWithForgingProvider(t);
  const browser = new RedirectedBrowser();
  const signInCookies = () => browser.cookies.filter(({ name }) => name.includes('oidc-'));
  const returnUrls = [];
  for (let count = 0; count < 6; count += 1) returnUrls.push((await beginOnly(browser)).url);
  assert.equal(signInCookies().length, 4);
  assert.equal((await browser.open(returnUrls[0]?.href ?? '')).response.status, 400);
  for (const url of returnUrls.slice(2)) await browser.open(url.href);
  assert.deepEqual(signInCookies(), []);
});

test('a configuration that could admit nobody is refused with the reason', async (t) => {
  const { provider, postern } = await startWithForgingProvider(t);
  for (const [member, reason] of [
    [{ requireGroup: 'editors' }, /groupsClaim is required/],
    [{ scopes: 'email profile' }, /scopes must contain openid/],
  ] as const) {
    const configuration = JSON.stringify({ ...provider.configuration, ...member });
    const { status, body } = await postern.send('loginprofile/add', { title: 'X', typeId: 5, configuration });
    assert.equal(status, 400);
    assert.match(body.detail, reason);
  }
});
