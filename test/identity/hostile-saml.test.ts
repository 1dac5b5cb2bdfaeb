import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingForSamlProvider } from '../parts/debian-saml-provider.ts';
import { RedirectedBrowser } from './redirected-browser.ts';
import { startWithSaml } from './saml-sign-in.ts';

const missing = missingForSamlProvider();
const options = { skip: missing === '' ? false : `not installed: ${missing}` };

test('a SAML response is accepted if it is valid, and refused if one detail of it is wrong', options, async (t) => {
  const { provider, share, begin, postResponse, outcome } = await startWithSaml(t);
  const cases: { right: string[]; wrong: string[] } = JSON.parse(await provider.call('/cases'));
  for (const name of cases.right)
    await t.test(`accepted: ${name}`, async () => {
      const attempt = await begin();
      await postResponse(attempt, await provider.respond(name, attempt.requestId));
      const { signedIn, visitor } = await outcome(attempt.browser);
      assert.deepEqual([signedIn, visitor.email], [true, 'ann@example.com']);
    });
  for (const [index, name] of cases.wrong.entries())
    await t.test(`refused: ${name}`, async () => {
      // Each browser has its own address, because a network with many failures must wait.
      const browser = new RedirectedBrowser({ 'x-forwarded-for': `192.0.2.${index}` });
      const attempt = await begin(share.base, browser);
      await postResponse(attempt, await provider.respond(name, attempt.requestId));
      const { signedIn, code } = await outcome(attempt.browser);
      assert.deepEqual([signedIn, code], [false, 'providerRefused']);
    });
});
