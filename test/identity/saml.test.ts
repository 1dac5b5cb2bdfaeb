import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { missingForSamlProvider } from '../parts/debian-saml-provider.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { createShare, hour, minute, settableClock } from '../visit/visiting.ts';
import { RedirectedBrowser } from './redirected-browser.ts';
import { startWithSaml } from './saml-sign-in.ts';

const missing = missingForSamlProvider();
const options = { skip: missing === '' ? false : `not installed: ${missing}` };
const displayName = 'urn:oid:2.16.840.1.113730.3.1.241'; // as Shibboleth and pysaml2 name it
const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1' };

for (const at of ['link', 'portal'] as const)
  test(`a visitor signs in at a SAML provider and comes back to the ${at}`, options, async (t) => {
    const { postern, profile, share, signIn } = await startWithSaml(t);
    const base = at === 'link' ? share.base : `/p/${profile.viewId}`;
    const browser = await signIn('ann', base);
    assert.equal(browser.visited.at(-1), `${postern.publicUrl}${base}`);
    const { body } = await browser.visit(postern, base);
    assert.deepEqual([body.signIn.asksProvider, body.visitor], [true, { name: 'Ann Archer', email: 'ann@example.com' }]);
    assert.deepEqual(
      browser.cookies.filter(({ name }) => name.includes('saml')),
      [],
      'the cookie of the sign-in is deleted',
    );
    const { list } = await postern.call('audit/search', { action: 'sign-in' });
    assert.deepEqual([list.length, list[0].actor, list[0].outcome], [1, 'Ann Archer', 'done']);
  });

test('visitors sign in while the provider of another profile does not respond', options, async (t) => {
  const { postern, signIn, outcome } = await startWithSaml(t);
  let isRequested = false;
  const silent = createServer(() => {
    isRequested = true;
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => silent.close());
  const { port } = silent.address() as AddressInfo;
  const configuration = JSON.stringify({ metadataUrl: `http://127.0.0.1:${port}/metadata` });
  const { id } = await postern.call('loginprofile/add', { title: 'Silent', typeId: 6, configuration });
  const stranger = new RedirectedBrowser();
  const response = Buffer.from('<x/>').toString('base64');
  const pendingPost = stranger.postForm(`${postern.publicUrl}/sign-in/saml/${id}`, { SAMLResponse: response }, false);
  await until(() => isRequested);
  assert.equal((await outcome(await signIn('ann'))).signedIn, true);
  silent.closeAllConnections();
  await pendingPost;
});

test(
  'without HTTPS, a response that arrives without the cookie is stored, and signs in the browser once, at its next request',
  options,
  async (t) => {
    const { provider, begin, postResponse, outcome } = await startWithSaml(t);
    const attempt = await begin();
    const response = await provider.respond('signed assertion', attempt.requestId);
    await postResponse(attempt, response, false);
    assert.equal((await outcome(attempt.browser)).signedIn, true);
    const parkedAddress = attempt.browser.visited.find((address) => address.includes('parked='));
    assert.ok(parkedAddress, 'the response was stored, and the browser was redirected to it');
    const thief = new RedirectedBrowser();
    assert.equal((await thief.open(parkedAddress)).response.status, 400);
    await attempt.browser.open(parkedAddress);
    assert.equal((await outcome(thief)).signedIn, false);
  },
);

test('a stored response signs in nobody but the browser that has begun the sign-in', options, async (t) => {
  const { provider, postern, profile, begin, outcome } = await startWithSaml(t);
  const [ann, eve] = [await begin(), await begin()];
  const response = await provider.respond('signed assertion', ann.requestId);
  const form = new URLSearchParams({ SAMLResponse: response, RelayState: ann.relayState });
  const redirect = await fetch(`${postern.publicUrl}/sign-in/saml/${profile.id}`, { method: 'POST', body: form, redirect: 'manual' });
  const parkedUrl = new URL(redirect.headers.get('location') ?? '');
  parkedUrl.searchParams.set('RelayState', eve.relayState);
  await eve.browser.open(parkedUrl.href);
  assert.deepEqual([(await outcome(eve.browser)).signedIn, (await outcome(eve.browser)).code], [false, 'providerRefused']);
});

test('a share lists visitors of a SAML provider by NameID, user name or group', options, async (t) => {
  const { postern, profile, signIn, list } = await startWithSaml(t, { usernameAttribute: displayName, emailTrust: 'verified' });
  const createListedShare = async (lists: object) =>
    (await createShare(postern, { authenticationId: profile.id, allowAllUsers: false, ...lists })).base;
  const bases = [
    await createListedShare({ userNames: 'ANN@example.com' }),
    await createListedShare({ userNames: 'ann archer' }),
    await createListedShare({ groupNames: 'Editors' }),
  ];
  const statuses = async (user: string) => {
    const browser = await signIn(user);
    return Promise.all(bases.map((base) => list(browser, base)));
  };
  assert.deepEqual(
    [await statuses('ann'), await statuses('bob')],
    [
      [200, 200, 200],
      [403, 403, 403],
    ],
  );
});

test('a user outside the required group is refused, and the audit log says why', options, async (t) => {
  const { postern, signIn, outcome } = await startWithSaml(t, { requireGroup: 'editors' });
  assert.equal((await outcome(await signIn('ann'))).signedIn, true);
  const { signedIn, code } = await outcome(await signIn('bob'));
  assert.deepEqual([signedIn, code], [false, 'providerRefused']);
  await until(async () => (await postern.call('audit/search', { outcome: 'refused' })).list.length > 0);
  const [entry] = (await postern.call('audit/search', { outcome: 'refused' })).list;
  assert.match(JSON.stringify(entry.after), /not in the group editors/);
});

test('a sign-in that begins at the provider ends at the portal, if the profile allows it', options, async (t) => {
  const { provider, postern, profile, postResponse } = await startWithSaml(t, { idpInitiated: true });
  const browser = new RedirectedBrowser();
  const response = await provider.respond('signed assertion', '');
  const { url } = await postResponse({ browser, relayState: 'anything' }, response, false);
  assert.equal(url.href, `${postern.publicUrl}/p/${profile.viewId}`);
  assert.equal((await browser.visit(postern, `/p/${profile.viewId}`)).body.signIn.signedIn, true);
  const other = new RedirectedBrowser();
  await postResponse({ browser: other, relayState: '' }, response, false);
  assert.equal((await other.visit(postern, `/p/${profile.viewId}`)).body.signIn.signedIn, false, 'a response is used once');
});

test('a response that several browsers send at the same time, also to two processes, signs in one of them', options, async (t) => {
  const { provider, postern, profile } = await startWithSaml(t, { idpInitiated: true });
  const sharesDatabase = process.env['POSTERN_TEST_POSTGRES'] !== undefined;
  const secondEnvironment = { ...environment, POSTERN_PUBLIC_URL: postern.publicUrl };
  const processes = sharesDatabase ? [postern, await startPostern(t, { data: postern.data, environment: secondEnvironment })] : [postern];
  const response = await provider.respond('signed assertion', '');
  const signInStates = await Promise.all(
    [...processes, ...processes, ...processes].map(async ({ apiUrl }) => {
      const browser = new RedirectedBrowser();
      await browser.postForm(`${apiUrl}/sign-in/saml/${profile.id}`, { SAMLResponse: response, RelayState: '' }, false);
      return (await browser.visit(postern, `/p/${profile.viewId}`)).body.signIn.signedIn;
    }),
  );
  assert.equal(signInStates.filter(Boolean).length, 1);
});

test('a new certificate of the provider is accepted if its metadata was last read at least a minute ago', options, async (t) => {
  const { provider, signIn, outcome } = await startWithSaml(t);
  let elapsed = 0; // ms
  t.mock.method(performance, 'now', () => elapsed);
  assert.equal((await outcome(await signIn('ann'))).signedIn, true);
  await provider.call('/roll-over');
  elapsed += minute;
  assert.equal((await outcome(await signIn('ann'))).signedIn, true);
});

test('a session ends after an hour, or earlier if the provider demands it', options, async (t) => {
  const clock = settableClock();
  const { provider, begin, postResponse, list, signIn } = await startWithSaml(t, {}, { environment, replacements: { ports: { clock } } });
  const ann = await signIn('ann');
  const attempt = await begin();
  await postResponse(attempt, await provider.call(`/response?${new URLSearchParams({ request: attempt.requestId, session_end: '1200' })}`));
  clock.advance(19 * minute);
  assert.deepEqual([await list(ann), await list(attempt.browser)], [200, 200]);
  clock.advance(2 * minute);
  assert.deepEqual([await list(ann), await list(attempt.browser)], [200, 401]);
  clock.advance(hour);
  assert.equal(await list(ann), 401);
});

test('a change of the user name attribute ends all sessions; a change of the display name attribute ends none', options, async (t) => {
  const { postern, provider, profile, signIn, list } = await startWithSaml(t);
  const commonFields = { metadataUrl: provider.metadataUrl, groupsAttribute: 'groups', emailTrust: 'provider' };
  const change = (configuration: object) =>
    postern.call('loginprofile/update', { id: profile.id, configuration: JSON.stringify({ ...commonFields, ...configuration }) });
  const ann = await signIn('ann');
  await change({ nameAttribute: 'displayName', idpInitiated: true });
  assert.equal(await list(ann), 200);
  await change({ usernameAttribute: 'mail' });
  assert.equal(await list(ann), 401);
});

test('if the metadata of the provider cannot be read, the browser returns to the page with the error providerAway', options, async (t) => {
  const { postern, share } = await startWithSaml(t, { metadataUrl: 'http://127.0.0.1:1/metadata' });
  const browser = new RedirectedBrowser();
  await browser.open(`${postern.publicUrl}${share.base}/sign-in/start`);
  assert.match(browser.visited.at(-1) ?? '', /#sign-in=providerAway/);
});

test('an invalid configuration of a SAML profile is refused, and the error says why', options, async (t) => {
  const { postern, provider } = await startWithSaml(t);
  const certificate = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----';
  const manual = { entityId: 'urn:idp', entryPoint: 'https://idp.example/sso', certificates: [certificate] };
  for (const [configuration, problem] of [
    [{}, /metadataUrl is required/],
    [{ metadataUrl: 'http://idp.example/metadata' }, /metadataUrl must begin with https/],
    [{ metadata: '<x/>' }, /metadata must be XML with an EntityDescriptor/],
    [{ ...manual, metadataUrl: provider.metadataUrl }, /entryPoint and certificates must not be given with metadata/],
    [{ ...manual, entityId: undefined }, /entityId is required/],
    [{ ...manual, entryPoint: 'http://idp.example/sso' }, /entryPoint must begin with https/],
    [{ ...manual, certificates: ['x'] }, /certificates must be certificates in PEM/],
    [{ ...manual, requireGroup: 'a' }, /groupsAttribute is required/],
    [{ ...manual, unknown: 1 }, /unknown/],
  ] as const) {
    const { status, body } = await postern.send('loginprofile/add', {
      title: 'x',
      typeId: 6,
      configuration: JSON.stringify(configuration),
    });
    assert.equal(status, 400, JSON.stringify(configuration));
    assert.match(JSON.stringify(body), problem);
  }
});

test('loginprofile/test reads the metadata of a provider, and says what is wrong with a certificate', options, async (t) => {
  const { postern, provider, profile } = await startWithSaml(t);
  const result = await postern.call('loginprofile/test', { id: profile.id });
  assert.deepEqual([result.works, result.steps.map(({ step }: { step: string }) => step)], [true, ['metadata', 'certificates']]);
  assert.ok(result.steps[0].detail.includes(provider.metadataUrl));
  const certificates = ['-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----'];
  const configuration = JSON.stringify({ entityId: 'urn:idp', entryPoint: 'https://idp.example/sso', certificates });
  const { id } = await postern.call('loginprofile/add', { title: 'Manual', typeId: 6, configuration });
  const { works, steps } = await postern.call('loginprofile/test', { id });
  assert.deepEqual([works, steps.at(-1).detail], [false, 'Certificate 1 cannot be read.']);
});
