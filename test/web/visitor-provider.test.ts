import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openWindow } from '../parts/chromium.ts';
import { startOpenIdProvider } from '../parts/openid-provider.ts';
import { startPostern } from '../start.ts';
import { createShare } from '../visit/visiting.ts';
import { assertAccessible } from './console.ts';

const viewport = { width: 390, dark: false };

async function startWithProvider(t: TestContext) {
  const provider = await startOpenIdProvider(t, { ann: { email: 'ann@example.com', email_verified: true, name: 'Ann Archer' } });
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' } });
  const configuration = JSON.stringify(provider.configuration);
  const profile = await postern.call('loginprofile/add', { title: 'Example Inc.', typeId: 5, configuration });
  provider.serve(`${postern.publicUrl}/sign-in/oidc/${profile.id}`);
  mkdirSync(join(postern.files, 'reports'));
  const share = await createShare(postern, { authenticationId: profile.id });
  const { window } = await openWindow(t, viewport);
  return { provider, postern, share, window, page: await window.newPage() };
}

test('a visitor signs in at the provider with one click, and returns to the folder that the address names', async (t) => {
  const { postern, share, page } = await startWithProvider(t);
  await page.goto(`${postern.publicUrl}${share.base}#/reports`);
  const button = page.getByRole('link', { name: 'Continue with Example Inc.' });
  await button.waitFor();
  await assertAccessible(page, 'the button of the provider');
  await button.click();
  await page.getByText('This folder is empty').waitFor();
  assert.equal(new URL(page.url()).hash, '#/reports');
});

test('after a refused sign-in, the page says so and shows a reference, and the visitor can try again', async (t) => {
  const { provider, postern, share, page } = await startWithProvider(t);
  provider.next = 'nobody';
  await page.goto(postern.publicUrl + share.base);
  await page.getByRole('link', { name: 'Continue with Example Inc.' }).click();
  await page.getByText('The sign-in was not accepted').waitFor();
  await page.getByText(/^Reference for inquiries: \S+$/).waitFor();
  await assertAccessible(page, 'a refused sign-in');
  assert.equal(new URL(page.url()).hash, '');
  provider.next = 'ann';
  await page.getByRole('link', { name: 'Continue with Example Inc.' }).click();
  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();
});

test('if a session ends while the page is open, the visitor signs in again in a second window, and the page and its uploads continue', async (t) => {
  const { postern, share, window, page } = await startWithProvider(t);
  const endSession = () => postern.ports.store.write((tx) => tx.deleteFrom('visit_session').execute(), 'job');
  const dialog = page.getByRole('dialog', { name: 'Example Inc.' });
  const signInAgain = async () => {
    const opening = window.waitForEvent('page');
    await dialog.getByRole('link', { name: 'Continue with Example Inc.' }).click();
    await (await opening).getByRole('link', { name: /^welcome.txt/ }).waitFor();
    await dialog.waitFor({ state: 'detached' });
  };
  await page.goto(postern.publicUrl + share.base);
  await page.getByRole('link', { name: 'Continue with Example Inc.' }).click();
  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();

  await endSession();
  await page.getByRole('link', { name: /^reports/ }).click();
  await dialog.waitFor();
  await assertAccessible(page, 'the dialog of a session that has ended');
  await signInAgain();
  await page.getByText('This folder is empty').waitFor();

  await endSession();
  const names = ['one.txt', 'two.txt', 'three.txt'];
  const files = names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) }));
  await page.getByLabel('Upload', { exact: true }).setInputFiles(files);
  await dialog.waitFor();
  await signInAgain();
  await page.getByText('All files uploaded').waitFor();
  assert.deepEqual(readdirSync(join(postern.files, 'reports')).sort(), names.sort());
});
