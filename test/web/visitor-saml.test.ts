import { test } from 'node:test';
import { startWithSaml } from '../identity/saml-sign-in.ts';
import { openWindow } from '../parts/chromium.ts';
import { missingForSamlProvider } from '../parts/debian-saml-provider.ts';

const missing = missingForSamlProvider();
const options = { skip: missing === '' ? false : `not installed: ${missing}` };

test('a visitor signs in at a SAML provider with one click, at a link and at the portal of the login profile', options, async (t) => {
  const { postern, profile, share } = await startWithSaml(t);
  for (const base of [share.base, `/p/${profile.viewId}`]) {
    const { window } = await openWindow(t, { width: 390, dark: false });
    const page = await window.newPage();
    await page.goto(postern.publicUrl + base);
    await page.getByRole('link', { name: 'Continue with Example Inc.' }).click();
    await page.getByText('Ann Archer').first().waitFor();
  }
});
