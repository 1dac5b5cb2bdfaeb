import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingForDebianProvider, startDebianOpenIdProvider } from '../parts/debian-openid-provider.ts';
import { freePort } from '../parts/free-port.ts';
import { startPostern, temporaryFolder } from '../start.ts';
import { createShare, minute, settableClock } from '../visit/visiting.ts';
import { RedirectedBrowser } from './redirected-browser.ts';

const missing = missingForDebianProvider();

test('a visitor signs in at a provider that shares no code with Postern, and is still signed in after eleven minutes', {
  skip: missing !== '' && `not installed: ${missing}`,
}, async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' }, replacements: { ports: { clock } } });
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}/api/oidc`;
  const configuration = { issuer, clientId: 'postern', clientSecret: 'a-secret-with-a-hyphen', scopes: 'openid' };
  const profile = await postern.call('loginprofile/add', { title: 'Clients', typeId: 5, configuration: JSON.stringify(configuration) });
  const share = await createShare(postern, { authenticationId: profile.id });
  const redirect = `${postern.publicUrl}/sign-in/oidc/${profile.id}`;
  const provider = await startDebianOpenIdProvider(t, redirect, await temporaryFolder(t), port);
  const browser = new RedirectedBrowser();
  // The provider runs without its web page: the browser signs in and consents through the API that the page would call.
  const { url } = await browser.open(`${postern.publicUrl}${share.base}/sign-in/start`, ({ origin }) => origin === provider.url);
  await browser.send(`${provider.url}/api/auth/`, 'POST', { username: 'ann', password: 'ann-secret' });
  await browser.send(`${provider.url}/api/auth/grant/postern`, 'PUT', { scope: 'openid' });
  url.searchParams.set('g_continue', '');
  await browser.open(url.href);
  const { visitor } = (await browser.visit(postern, share.base)).body;
  assert.equal(visitor.name, 'Ann Archer');
  clock.advance(11 * minute);
  assert.equal((await browser.visit(postern, share.base)).body.signIn.signedIn, true);
});
