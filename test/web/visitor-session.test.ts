import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { samplePng } from '../../scripts/sample-files.ts';
import { openWindow } from '../parts/chromium.ts';
import { createUsersProfile, newShare, startPostern } from '../start.ts';

test('after a session ends, the visitor signs in again on the same page, and the upload continues', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  await mkdir(join(postern.files, 'reports/2026'), { recursive: true });
  await writeFile(join(postern.files, 'reports/2026/march.txt'), 'March');
  const share = await postern.call('share/add', newShare({ path: '/reports', authenticationId: profile.id }));
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  await page.goto(`${share.viewUrl}#/2026`);
  await page.getByLabel('User name').fill('ann');
  await page.getByLabel('Password', { exact: true }).fill(profile.password);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: /^march.txt/ }).waitFor();

  const newPassword = 'another good password 4711';
  await postern.call('accessuser/updateUserPassword', {
    username: 'ann',
    authId: profile.id,
    userPassword: newPassword,
    confirmPassword: newPassword,
  });
  await page
    .getByLabel('Upload', { exact: true })
    .setInputFiles({ name: 'april.txt', mimeType: 'text/plain', buffer: Buffer.from('April') });
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Your session has ended.').waitFor();
  const { violations } = await new AxeBuilder({ page }).analyze();
  assert.deepEqual(violations, []);
  await dialog.getByLabel('User name').fill('ann');
  await dialog.getByLabel('Password', { exact: true }).fill(newPassword);
  await page.keyboard.press('Enter');

  await dialog.waitFor({ state: 'detached' });
  await page.getByText('All files uploaded').waitFor();
  await page.getByRole('link', { name: /^april.txt/ }).waitFor();
  assert.equal(await readFile(join(postern.files, 'reports/2026/april.txt'), 'utf8'), 'April');
});

/** Opens a share in a window as wide as a phone, and signs a visitor in. `signIn` signs the visitor in again after a session has ended. */
async function openSignedInPage(t: TestContext, files: readonly string[]) {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  await mkdir(join(postern.files, 'inbox'));
  for (const name of files) await writeFile(join(postern.files, 'inbox', name), `old ${name}`);
  const share = await postern.call('share/add', newShare({ path: '/inbox', authenticationId: profile.id }));
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  const signIn = async () => {
    await page.getByLabel('User name').fill('ann');
    await page.getByLabel('Password', { exact: true }).fill(profile.password);
    await page.keyboard.press('Enter');
  };
  await page.goto(share.viewUrl);
  await signIn();
  await page
    .getByRole('link', { name: files[0] ?? '' })
    .first()
    .waitFor();
  return { page, window, inbox: join(postern.files, 'inbox'), signIn };
}

test('if the session ends before the visitor decides to replace a file, the upload continues after the sign-in', async (t) => {
  const { page, window, inbox, signIn } = await openSignedInPage(t, ['a.txt']);
  await page.getByLabel('Upload', { exact: true }).setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('new') });
  await page.getByRole('group', { name: 'a.txt already exists' }).waitFor();
  await window.clearCookies();
  await page.getByRole('button', { name: 'Replace the existing file' }).click();
  await page.getByRole('dialog').getByText('Your session has ended.').waitFor();
  await signIn();
  await page.getByText('All files uploaded').waitFor();
  assert.equal(await readFile(join(inbox, 'a.txt'), 'utf8'), 'new');
});

test('if the session ends, a visitor who previews a text or changes the password signs in on the same page', async (t) => {
  const { page, window, signIn } = await openSignedInPage(t, ['a.txt']);
  const ended = page.getByRole('dialog').getByText('Your session has ended.');
  await window.clearCookies();
  await page.getByRole('link', { name: /^a.txt/ }).click();
  await ended.waitFor();
  await signIn();
  await page.getByRole('dialog', { name: 'a.txt' }).getByRole('button', { name: 'Try again' }).click();
  await page.getByText('old a.txt').waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Change password' }).click();
  await window.clearCookies();
  const dialog = page.getByRole('dialog', { name: 'Change password' });
  await dialog.getByLabel('Current password').fill('any password');
  await dialog.getByLabel('New password').fill('another good password 4711');
  await page.keyboard.press('Enter');
  await ended.waitFor();
});

test('if the session ends, a visitor who previews an image signs in on the same page', async (t) => {
  const { page, window, inbox, signIn } = await openSignedInPage(t, ['a.txt']);
  await writeFile(join(inbox, 'hill.png'), samplePng(60, 40));
  await page.reload();
  await page.getByRole('link', { name: /^hill.png/ }).waitFor();
  await window.clearCookies();
  await page.getByRole('link', { name: /^hill.png/ }).click();
  await page.getByRole('dialog').getByText('Your session has ended.').waitFor();
  await signIn();
  await page.getByRole('dialog', { name: 'hill.png' }).getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('img', { name: 'hill.png' }).waitFor();
});

test('after too many sign-in attempts, the page shows how long to wait', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  const share = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  const { window } = await openWindow(t, { width: 390, dark: true });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByLabel('User name').fill('ann');
  await page.getByLabel('Password', { exact: true }).fill('wrong');
  for (let attempt = 0; attempt < 9; attempt += 1) {
    await page.getByRole('button', { name: 'Sign in' }).and(page.locator('[aria-disabled=false]')).waitFor();
    const response = page.waitForResponse(/sign-in$/);
    await page.getByLabel('Password', { exact: true }).press('Enter');
    if ((await response).status() === 429) break;
  }
  await page.getByText('Too many attempts').waitFor();
  await page.getByText(/Wait \d+ second/).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Sign in' }).isDisabled(), true);
});

test('after sign-out, the page shows nothing of the share', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  const share = await postern.call('share/add', newShare({ title: 'Quarter 4', authenticationId: profile.id }));
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByLabel('User name').fill('ann');
  await page.getByLabel('Password', { exact: true }).fill(profile.password);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();

  await page.getByRole('button', { name: 'Sign out' }).click();

  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.equal(await page.getByText(/welcome.txt|Quarter 4/).count(), 0);
});

/** Creates a share with a folder, and opens a blank page as wide as a phone. */
async function openPhonePage(t: TestContext) {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'inner'));
  await writeFile(join(postern.files, 'inner/a.txt'), 'a');
  const share = await postern.call('share/add', newShare());
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  return { window, page, share };
}

test('a page that goes offline says so, and recovers by itself once the connection is back', async (t) => {
  const { window, page, share } = await openPhonePage(t);
  await page.goto(share.viewUrl);
  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();

  await window.setOffline(true);
  await page
    .getByRole('link', { name: /^inner/ })
    .first()
    .click();
  await page.getByRole('heading', { name: 'No connection' }).waitFor();
  await page.goBack();
  await page.getByText('No connection').waitFor();
  await window.setOffline(false);

  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();
  await page.getByText('No connection').waitFor({ state: 'detached' });
});

test('a page without a connection recovers by itself even if the browser never reports that the connection is back', async (t) => {
  const { page, share } = await openPhonePage(t);
  const abortRequests = (requests: string) => page.route(requests, (route) => route.abort());

  await abortRequests('**/visit');
  await page.goto(share.viewUrl);
  await page.getByRole('heading', { name: 'No connection' }).waitFor();
  await page.unroute('**/visit');
  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();

  await abortRequests('**/list/**');
  await page
    .getByRole('link', { name: /^inner/ })
    .first()
    .click();
  await page.getByRole('heading', { name: 'No connection' }).waitFor();
  await page.unroute('**/list/**');
  await page.getByRole('link', { name: /^a.txt/ }).waitFor();
});
