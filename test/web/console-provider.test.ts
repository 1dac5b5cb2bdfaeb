import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startOpenIdProvider } from '../parts/openid-provider.ts';
import { assertAccessible, desktop, openConsole, openSignedInConsole, operatorPassword, unexpectedErrors } from './console.ts';

const users = {
  ann: { email: 'ann@example.com', email_verified: true, name: 'Ann Archer', groups: ['admins'] },
  eve: { email: 'eve@example.com', email_verified: true, name: 'Eve Elder', groups: [] },
};

const settingsOf = ({ issuer, configuration }: Awaited<ReturnType<typeof startOpenIdProvider>>) => ({
  POSTERN_PRIVATE_TARGETS: '127.0.0.1',
  POSTERN_OPERATOR_OIDC_ISSUER: issuer,
  POSTERN_OPERATOR_OIDC_CLIENT_ID: configuration.clientId,
  POSTERN_OPERATOR_OIDC_CLIENT_SECRET: configuration.clientSecret,
  POSTERN_OPERATOR_OIDC_SCOPES: 'openid email profile groups',
  POSTERN_OPERATOR_OIDC_ADMINS: 'admins',
});

test('an operator signs in at the provider with one button, and a user without access to the console sees a reference', async (t) => {
  const provider = await startOpenIdProvider(t, users);
  const { postern, page, window, go, consoleErrors } = await openConsole(t, desktop, { environment: settingsOf(provider) });
  provider.serve(`${postern.apiUrl}/api/v1/operator/signIn/finish`);
  provider.next = 'eve';
  await go('');
  const button = page.getByRole('link', { name: 'Continue with 127.0.0.1' });
  await button.waitFor();
  await assertAccessible(page, 'sign-in with a provider');
  await button.click();
  await page.getByText(/your account has no access to this console\. Reference: \S+/).waitFor();
  provider.next = 'ann';
  await window.clearCookies(); // the provider remembers who has signed in there
  await button.click();
  await page.getByRole('button', { name: 'ann@example.com' }).waitFor();
  await go('/settings/account');
  await page.getByText('You have signed in at 127.0.0.1.').waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Second factor' }).count(), 0);
  assert.deepEqual(unexpectedErrors(consoleErrors), []);
});

test('an operator with a password connects the account to the provider, and the account page shows the connection', async (t) => {
  const provider = await startOpenIdProvider(t, users);
  const { postern, page, go } = await openSignedInConsole(t, desktop, 'admin', { environment: settingsOf(provider) });
  provider.serve(`${postern.apiUrl}/api/v1/operator/signIn/finish`);
  provider.next = 'ann';
  await go('/settings/account');
  await page.getByRole('button', { name: 'Connect with 127.0.0.1' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Current password').fill('not the password');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByText('The current password is wrong.').waitFor();
  await assertAccessible(page, 'connection with the provider');
  await dialog.getByLabel('Current password').fill(operatorPassword);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Your account is connected to a user of 127.0.0.1.').waitFor();
  await page.getByRole('button', { name: 'Connect with another user' }).waitFor();
  await page.getByRole('heading', { name: 'Second factor' }).waitFor();
});
