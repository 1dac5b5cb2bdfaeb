import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { codeAt } from '../parts/authenticator-app.ts';
import { addAuthenticator } from '../parts/virtual-authenticator.ts';
import { assertAccessible, desktop, openConsole, openSignedInConsole, operatorPassword, signIn, unexpectedErrors } from './console.ts';

/** Adds an authenticator app in the form that is open. @returns its secret, and the first recovery code */
async function addApp(page: Page) {
  const secret = ((await page.locator('.totp-secret').textContent()) ?? '').replace(/\s/g, '');
  await page.getByLabel('Six-digit code', { exact: true }).fill(codeAt(secret, Date.now()));
  await page.getByLabel('Current password').last().fill(operatorPassword);
  await page.getByRole('button', { name: 'Add app' }).click();
  const recoveryCode = (await page.getByLabel('Recovery codes').locator('code').first().textContent()) ?? '';
  return { secret, recoveryCode };
}

test('where a second factor is required, an operator sets it up at sign-in, and must enter a code at the next sign-in', async (t) => {
  const { postern, page, window, go, consoleErrors } = await openConsole(t);
  await postern.call('operator/add', { name: 'Olga', role: 'admin', password: operatorPassword, confirmPassword: operatorPassword });
  await postern.call('tenant/updatePolicy', { secondFactorRequired: true });
  await go('/shares');
  await signIn(page);
  await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  await assertAccessible(page, 'set up');
  const { recoveryCode } = await addApp(page);
  await page.getByRole('button', { name: 'I have saved them' }).click();
  await page.getByRole('heading', { name: 'Shares', exact: true }).waitFor();

  await window.clearCookies();
  await go('/shares');
  await signIn(page);
  await page.getByLabel('Code').fill('000000');
  await assertAccessible(page, 'sign-in with a code');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The code or passkey is wrong, or has been used already.').waitFor();
  await page.getByLabel('Code').fill(recoveryCode);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Shares', exact: true }).waitFor();
  assert.deepEqual(unexpectedErrors(consoleErrors), []);
});

test('an operator adds an app to the account, gets new recovery codes, and removes the app', async (t) => {
  const { page, go, consoleErrors } = await openSignedInConsole(t);
  await go('/settings/account');
  await page.getByRole('button', { name: 'Add authenticator app' }).click();
  await addApp(page);
  await page.getByRole('button', { name: 'I have saved them' }).click();
  await page.getByText('last used:').waitFor();
  await page.getByText('10 recovery codes left.').waitFor();
  await page.getByRole('button', { name: 'Create new recovery codes' }).click();
  await page.getByRole('dialog').getByLabel('Current password').fill(operatorPassword);
  await page.getByRole('button', { name: 'Create codes' }).click();
  await page.getByRole('button', { name: 'I have saved them' }).click();
  await page.getByRole('button', { name: 'Remove Authenticator app' }).click();
  await page.getByRole('dialog').getByLabel('Current password').fill('not this one');
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByText('The current password is wrong.').waitFor();
  await page.getByRole('dialog').getByLabel('Current password').fill(operatorPassword);
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText('last used:').waitFor({ state: 'detached' });
  assert.deepEqual(
    unexpectedErrors(consoleErrors).filter((text) => !/status of 403/.test(text)),
    [],
  );
});

test('an operator adds a passkey to the account, and confirms the next sign-in with it, without typing a code', async (t) => {
  const { page, window, go, consoleErrors } = await openSignedInConsole(t, desktop, 'admin', { host: 'localhost' });
  const device = await addAuthenticator(page);
  await go('/settings/account');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByLabel('Name of the passkey').fill('Laptop');
  await page.getByRole('dialog').getByLabel('Current password').fill('not this one');
  await page.getByRole('button', { name: 'Create passkey' }).click();
  await page.getByText('The current password is wrong.').waitFor();
  assert.equal((await device.credentials()).length, 0);
  await page.getByRole('dialog').getByLabel('Current password').fill(operatorPassword);
  await assertAccessible(page, 'a new passkey');
  await page.getByRole('button', { name: 'Create passkey' }).click();
  await page.getByRole('button', { name: 'I have saved them' }).click();
  await page.getByText('Laptop', { exact: true }).waitFor();
  assert.equal((await device.credentials()).length, 1);

  await window.clearCookies();
  await go('/shares');
  await signIn(page);
  await page.getByRole('heading', { name: 'Shares', exact: true }).waitFor();
  assert.deepEqual(
    unexpectedErrors(consoleErrors).filter((text) => !/status of 403/.test(text)),
    [],
  );
});

test('an operator who cannot confirm with the passkey signs in with a recovery code', async (t) => {
  const { page, window, go } = await openSignedInConsole(t, desktop, 'admin', { host: 'localhost' });
  const device = await addAuthenticator(page);
  await go('/settings/account');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByRole('dialog').getByLabel('Current password').fill(operatorPassword);
  await page.getByRole('button', { name: 'Create passkey' }).click();
  const recoveryCode = (await page.getByLabel('Recovery codes').locator('code').first().textContent()) ?? '';
  await page.getByRole('button', { name: 'I have saved them' }).click();
  await device.remove();
  await addAuthenticator(page); // another device, without the passkey

  await window.clearCookies();
  await go('/shares');
  await signIn(page);
  await page.getByText('Your browser got no confirmation.').waitFor();
  await page.getByRole('button', { name: 'Sign in with passkey' }).waitFor();
  await assertAccessible(page, 'a passkey that was not confirmed');
  await page.getByLabel('Code').fill(recoveryCode);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Shares', exact: true }).waitFor();
});

test('where a second factor is required, an operator can set up a passkey', async (t) => {
  const { postern, page, go } = await openConsole(t, desktop, { host: 'localhost' });
  await addAuthenticator(page);
  await postern.call('operator/add', { name: 'Olga', role: 'admin', password: operatorPassword, confirmPassword: operatorPassword });
  await postern.call('tenant/updatePolicy', { secondFactorRequired: true });
  await go('/shares');
  await signIn(page);
  await page.getByRole('button', { name: 'Use a passkey instead' }).click();
  await page.getByLabel('Current password').fill(operatorPassword);
  await assertAccessible(page, 'set up of a passkey');
  await page.getByRole('button', { name: 'Create passkey' }).click();
  await page.getByRole('button', { name: 'I have saved them' }).click();
  await page.getByRole('heading', { name: 'Shares', exact: true }).waitFor();
});

test('if the second factors or the key of a new app cannot be loaded, the page says so and offers to try again', async (t) => {
  const { page, go } = await openSignedInConsole(t);
  const failed = page.getByRole('heading', { name: 'This page could not be loaded' });
  await page.route(/operator\/getSecondFactors/, (route) => route.fulfill({ status: 500, json: {} }));
  await page.route(/operator\/prepareTotp/, (route) => route.fulfill({ status: 500, json: {} }));
  await go('/settings/account');
  await failed.waitFor();
  await page.unroute(/operator\/getSecondFactors/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('button', { name: 'Add authenticator app' }).click();
  await failed.waitFor();
  await assertAccessible(page, 'an app whose key cannot be loaded');
  await page.unroute(/operator\/prepareTotp/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
});
