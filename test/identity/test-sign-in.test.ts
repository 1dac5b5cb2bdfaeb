import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addTenant } from '../api/keys.ts';
import { missingForSamlProvider } from '../parts/debian-saml-provider.ts';
import { startOpenIdProvider } from '../parts/openid-provider.ts';
import { startPostern } from '../start.ts';
import { createShare, minute, settableClock } from '../visit/visiting.ts';
import { RedirectedBrowser } from './redirected-browser.ts';
import { startWithSaml } from './saml-sign-in.ts';

const missing = missingForSamlProvider();
const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1' };
const ann = { email: 'ann@example.com', email_verified: true, name: '<b>Ann</b> Archer', groups: ['Editors', 'A & B, Ltd.'] };

async function startWithOidc(t: Parameters<typeof startPostern>[0], configuration: object = {}, clock = settableClock()) {
  const provider = await startOpenIdProvider(t, { ann });
  provider.next = 'ann';
  const postern = await startPostern(t, { environment, replacements: { ports: { clock } } });
  const { id } = await postern.call('loginprofile/add', {
    ...{ title: 'Example Inc.', typeId: 5 },
    configuration: JSON.stringify({
      ...provider.configuration,
      ...{ groupsClaim: 'groups', scopes: 'openid email profile groups' },
      ...configuration,
    }),
  });
  provider.serve(`${postern.publicUrl}/sign-in/oidc/${id}`);
  const share = await createShare(postern, { authenticationId: id });
  const testAddress = async (): Promise<string> => (await postern.call('loginprofile/testSignIn', { id })).url;
  return { provider, postern, id, share, clock, testAddress };
}

/** Returns the text of a page without its tags and styles. Does not decode entities. */
const textOf = (html: string) => html.replace(/<style.*?<\/style>/gs, '').replace(/<[^>]+>/g, '\n');

test('an admin signs in at an OpenID provider, sees the names and groups by which shares list the user, and gets no session', async (t) => {
  const { postern, share, testAddress } = await startWithOidc(t);
  const browser = new RedirectedBrowser();
  const { response, url } = await browser.open(await testAddress());
  const page = await response.text();
  assert.equal(response.status, 200);
  assert.match(url.pathname, /^\/sign-in\/oidc\/\d+$/);
  assert.match(textOf(page), /The sign-in works/);
  for (const text of ['ann@example.com', 'Editors', '&quot;A &amp; B, Ltd.&quot;', '&lt;b&gt;Ann&lt;/b&gt; Archer', 'email_verified'])
    assert.ok(page.includes(text), text);
  assert.equal(page.includes('<b>'), false);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const { body } = await browser.visit(postern, share.base);
  assert.deepEqual([body.signIn.signedIn, body.visitor ?? null], [false, null]);
});

test('after a refused test sign-in, the page shows the reason and the claims of the provider', async (t) => {
  const { testAddress } = await startWithOidc(t, { requireGroup: 'Partners' });
  const page = await (await new RedirectedBrowser().open(await testAddress())).response.text();
  assert.match(textOf(page), /The sign-in failed/);
  assert.match(page, /Partners/);
  assert.ok(page.includes('Editors'), 'the groups that the provider has stated');
});

test('the address of a test sign-in works for ten minutes and only with its token, and only the browser that began the test gets the result', async (t) => {
  const { postern, id, clock, testAddress } = await startWithOidc(t);
  const address = await testAddress();
  assert.equal((await fetch(`${postern.publicUrl}/sign-in/test?token=wrong`)).status, 404);
  const browser = new RedirectedBrowser();
  const { url } = await browser.open(address, ({ pathname }) => pathname === `/sign-in/oidc/${id}`);
  const strangerResponse = await fetch(url, { redirect: 'manual' });
  assert.equal(strangerResponse.status, 400);
  assert.match(await (await browser.open(url.href)).response.text(), /The sign-in works/);
  clock.advance(11 * minute);
  assert.equal((await fetch(address, { redirect: 'manual' })).status, 404);
});

test('a profile without a provider has no test sign-in, and no tenant can test the profile of another tenant', async (t) => {
  const { postern, id } = await startWithOidc(t);
  const users = await postern.call('loginprofile/add', { title: 'Suppliers', typeId: 3 });
  const refusal = await postern.send('loginprofile/testSignIn', { id: users.id });
  assert.deepEqual([refusal.status, refusal.body.errors[0].field], [400, 'id']);
  const { key } = await addTenant(postern);
  assert.equal((await postern.send('loginprofile/testSignIn', { id }, { key })).status, 404);
});

test('a test sign-in at a SAML provider shows the attributes of the user, and starts no session', {
  skip: missing === '' ? false : `not installed: ${missing}`,
}, async (t) => {
  const { provider, postern, profile, share } = await startWithSaml(t);
  await provider.call('/next?user=ann');
  const { url } = await postern.call('loginprofile/testSignIn', { id: profile.id });
  const browser = new RedirectedBrowser();
  const providerPage = await browser.open(url, ({ pathname }) => pathname === '/sso');
  const form = await (await fetch(providerPage.url)).text();
  const SAMLResponse = /name="SAMLResponse" value="([^"]+)"/.exec(form)?.[1] ?? '';
  const RelayState = providerPage.url.searchParams.get('RelayState') ?? '';
  const { response } = await browser.postForm(`${postern.publicUrl}/sign-in/saml/${profile.id}`, { SAMLResponse, RelayState });
  const page = await response.text();
  assert.match(textOf(page), /The sign-in works/);
  for (const text of ['ann@example.com', 'NameID', 'groups']) assert.ok(page.includes(text), text);
  assert.equal((await browser.visit(postern, share.base)).body.signIn.signedIn, false);
});
