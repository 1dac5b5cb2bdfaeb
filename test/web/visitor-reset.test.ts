import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { codeIn, linkIn } from '../mail/code-visitor.ts';
import { headerOf, startWithMail } from '../mail/mailing.ts';
import { openWindow } from '../parts/chromium.ts';
import { createUsersProfile } from '../start.ts';
import { createShare } from '../visit/visiting.ts';
import { assertAccessible } from './console.ts';

const viewport = { width: 390, dark: false };
const ann = 'ann@example.com';
const newPassword = 'quite another secret';

test('a visitor who has forgotten the password chooses a new one with a mailed code, and sees the share', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const profile = await createUsersProfile(postern);
  const share = await createShare(postern, { authenticationId: profile.id });
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(postern.publicUrl + share.base);
  await page.getByRole('button', { name: 'Forgot your password?' }).click();
  await page.getByText('You will get a code').waitFor();
  await assertAccessible(page, 'the form for the address');
  await page.getByRole('button', { name: 'Back to sign-in' }).click();
  await page.getByLabel('User name').waitFor();
  await page.getByRole('button', { name: 'Forgot your password?' }).click();
  await page.getByLabel('E-mail address').fill(ann);
  await page.keyboard.press('Enter');
  await page.getByText(`If ${ann} has access`).waitFor();
  await assertAccessible(page, 'the form for the new password');
  const code = codeIn(headerOf(await sink.waitFor(), 'Subject'));
  await page.getByLabel('Code').fill('0000 0000');
  await page.getByLabel('New password').fill(newPassword);
  await page.getByRole('button', { name: 'Set new password' }).click();
  await page.getByText('This code is wrong or no longer valid.').waitFor();
  await page.getByLabel('Code').fill(code);
  await page.getByLabel('New password').fill('password123');
  await page.getByRole('button', { name: 'Set new password' }).click();
  await page.getByText('This password is too short, too easy to guess').waitFor();
  await page.getByLabel('New password').fill(newPassword);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();
});

/** Starts Postern, and requests a code for a new password at the page of a link. @returns the browser, and the received mails */
async function requestReset(t: TestContext) {
  const { postern, sink } = await startWithMail(t);
  const profile = await createUsersProfile(postern);
  const share = await createShare(postern, { authenticationId: profile.id });
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(postern.publicUrl + share.base);
  await page.getByRole('button', { name: 'Forgot your password?' }).click();
  await page.getByLabel('E-mail address').fill(ann);
  await page.keyboard.press('Enter');
  return { sink, window };
}

test('the link in the mail opens the form for the new password with the code in it', async (t) => {
  const { sink, window } = await requestReset(t);
  const mail = await sink.waitFor();
  const linkedPage = await window.newPage();
  await linkedPage.goto(linkIn(mail));
  assert.equal((await linkedPage.getByLabel('Code').inputValue()).replace(' ', ''), codeIn(headerOf(mail, 'Subject')));
  assert.doesNotMatch(linkedPage.url(), /code/);
  await linkedPage.getByLabel('New password').fill(newPassword);
  await linkedPage.keyboard.press('Enter');
  await linkedPage.getByRole('link', { name: /^welcome.txt/ }).waitFor();
});

test('the form for the new password does not contain a code that another browser requested', async (t) => {
  const { sink } = await requestReset(t);
  const other = await openWindow(t, viewport);
  const otherPage = await other.window.newPage();
  await otherPage.goto(linkIn(await sink.waitFor()));
  await otherPage.getByText('Enter it in the browser where you asked for it.').waitFor();
  await otherPage.getByLabel('E-mail address').fill('bob@example.com');
  await otherPage.keyboard.press('Enter');
  assert.equal(await otherPage.getByLabel('Code').inputValue(), '');
  await otherPage.getByRole('button', { name: 'Back to sign-in' }).click();
  await otherPage.getByRole('button', { name: 'Forgot your password?' }).click();
  assert.equal(await otherPage.getByLabel('Code').inputValue(), '');
});
