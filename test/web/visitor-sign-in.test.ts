import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from 'playwright-core';
import { openWindow } from '../parts/chromium.ts';
import { copyShare } from '../parts/copy-share.ts';
import { createUsersProfile, newShare, startPostern } from '../start.ts';
import { assertAccessible } from './console.ts';

const viewport = { width: 390, dark: false };
const password = 'reports of 2026';

test('a link for anyone opens without sign-in', async (t) => {
  const postern = await startPostern(t);
  const { viewUrl } = await postern.call('share/add', newShare({ title: 'Reports' }));
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(viewUrl);
  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();
});

for (const username of ['', 'guest'])
  test(`at a link with one password, the sign-in form asks for ${username ? 'a user name and password' : 'the password alone'}`, async (t) => {
    const postern = await startPostern(t);
    const profile = await postern.call('loginprofile/add', { title: 'Auditors', typeId: 2, username, password });
    const { viewUrl } = await postern.call('share/add', newShare({ authenticationId: profile.id }));
    const { window } = await openWindow(t, viewport);
    const page = await window.newPage();
    await page.goto(viewUrl);
    await page.getByRole('heading', { name: 'Auditors' }).waitFor();
    assert.equal(await page.getByLabel('User name').count(), username ? 1 : 0);
    if (username) await page.getByLabel('User name').fill(username);
    await page.getByLabel('Password', { exact: true }).fill('another password');
    await page.keyboard.press('Enter');
    await page.getByText(/is incorrect/).waitFor();
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();
  });

test('a portal lists only the shares that its visitor may open, and opens them without a second sign-in', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const shareFields = { authenticationId: profile.id, allowAllUsers: false };
  await postern.call('share/add', newShare({ title: 'For Ann', ...shareFields, userNames: 'ann' }));
  await postern.call('share/add', newShare({ title: 'For Bob', ...shareFields, userNames: 'bob' }));
  const { viewUrl } = await postern.call('loginprofile/get', { id: profile.id });
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(viewUrl);
  await page.getByLabel('User name').fill('ann');
  await page.getByLabel('Password', { exact: true }).fill(profile.password);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: /For Ann/ }).waitFor();
  assert.equal(await page.getByText('For Bob').count(), 0);
  await page.getByRole('link', { name: /For Ann/ }).click();
  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();
  await page.getByRole('link', { name: 'Clients' }).click();
  await page.getByRole('link', { name: /For Ann/ }).waitFor();
});

test('a portal shows 1000 shares, and loads further ones when the visitor scrolls, also if one was deleted meanwhile', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  const { id } = await postern.call('share/add', newShare({ title: 'Report', authenticationId: profile.id }));
  await copyShare(postern, id, 1010);
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  await page.goto(`${postern.publicUrl}/p/${profile.viewId}`);
  await page.getByLabel('User name').fill('ann');
  await page.getByLabel('Password', { exact: true }).fill(profile.password);
  await page.keyboard.press('Enter');
  await page.getByText(/You can open 1,011 shared items/).waitFor();
  assert.equal(await page.getByRole('link', { name: /^Report/ }).count(), 1000);
  await postern.ports.store.write((tx) => tx.deleteFrom('share').where('title', '=', 'Report 1009').execute(), 'job');
  await page.getByText('Loading…').scrollIntoViewIfNeeded();
  await page.getByRole('link', { name: 'Report 1008' }).waitFor();
  assert.equal(await page.getByText('Loading…').count(), 0);
});

test('after the page has requested the portal again, the failure of an older request does not stop the loading of further shares', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  const { id } = await postern.call('share/add', newShare({ title: 'Report', authenticationId: profile.id }));
  await copyShare(postern, id, 1010);
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  await page.goto(`${postern.publicUrl}/p/${profile.viewId}`);
  await page.getByLabel('User name').fill('ann');
  await page.getByLabel('Password', { exact: true }).fill(profile.password);
  await page.keyboard.press('Enter');
  await page.getByText(/You can open 1,011 shared items/).waitFor();
  const heldRequests: Route[] = [];
  await page.route(/startIndex/, (route) => void heldRequests.push(route));
  const loadMore = async () => {
    const request = page.waitForRequest(/startIndex/);
    await page.getByText('Loading…').scrollIntoViewIfNeeded();
    await request;
  };
  await loadMore();
  // This refusal makes the page request the visit again.
  await page.route(/\/password$/, (route) => route.fulfill({ status: 403, json: { code: 'permissionOff' } }));
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByLabel('Current password').fill(profile.password);
  await page.getByLabel('New password').fill(profile.password);
  const visit = page.waitForResponse(/\/visit$/);
  await page.keyboard.press('Enter');
  await visit;
  await page.keyboard.press('Escape');
  await loadMore();
  const failure = page.waitForEvent('requestfailed');
  await heldRequests[0]?.abort();
  await failure;
  await page.evaluate('new Promise(requestAnimationFrame)');
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
  await heldRequests[1]?.continue();
  await page.getByText('Report 1009').waitFor();
});

test('a direction mark in a title is shown as a replacement character in the portal', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  await postern.call('share/add', newShare({ title: 'Plans \u202Egpj', authenticationId: profile.id }));
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(`${postern.publicUrl}/p/${profile.viewId}`);
  await page.getByLabel('User name').fill('ann');
  await page.getByLabel('Password', { exact: true }).fill(profile.password);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Plans \ufffdgpj' }).waitFor();
});

test('a share that was not opened from a portal shows no link back to one', async (t) => {
  const postern = await startPostern(t);
  const { viewUrl } = await postern.call('share/add', newShare());
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(viewUrl);
  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();
  assert.equal(await page.locator('.back').count(), 0);
});

test('a visitor can change their own password on the page and continue, and the sign-in form offers help for a forgotten password', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann']);
  const { viewUrl } = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  const { window, consoleErrors } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(viewUrl);
  await page.getByText('Forgot your password?').waitFor();
  await page.getByLabel('User name').fill('ann');
  await page.getByLabel('Password', { exact: true }).fill(profile.password);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Change password' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change password' });
  const changePassword = async (currentPassword: string, newPassword: string) => {
    await dialog.getByLabel('Current password').fill(currentPassword);
    await dialog.getByLabel('New password').fill(newPassword);
    await dialog.getByRole('button', { name: 'Change password' }).click();
  };
  await changePassword('wrong horse battery', 'quite another secret');
  await dialog.getByText('The current password is incorrect.').waitFor();
  await changePassword(profile.password, 'password123');
  await dialog.getByText('too short, too easy to guess').waitFor();
  await assertAccessible(page, 'a password that is refused');
  await changePassword(profile.password, 'quite another secret');
  await dialog.getByText('Your password was changed.').waitFor();
  await assertAccessible(page, 'a password that was changed');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('link', { name: /^welcome.txt/ }).click();
  assert.deepEqual(
    consoleErrors.filter((text) => !/status of (401|400|403)/.test(text)),
    [],
  );
});

test('the sign-in page of a link with its own password is called "Sign in", also after the session has ended', async (t) => {
  const postern = await startPostern(t);
  const share = await postern.call('share/add', newShare({ title: 'Layoffs', linkPassword: 'correct horse battery' }));
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.equal(await page.title(), 'Sign in');
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Layoffs' }).waitFor();
  await page.waitForFunction("document.title === 'Layoffs'"); // the title follows the heading
  await window.clearCookies();
  await page.getByLabel('Upload', { exact: true }).setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('text') });
  await page.getByRole('dialog', { name: 'Sign in' }).waitFor();
});
