import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertAccessible, openConsole, operatorPassword, unexpectedErrors } from './console.ts';

for (const viewport of [
  { width: 390, dark: true },
  { width: 1440, dark: false },
])
  test(`an operator creates an account and a share for a visitor (${viewport.width} px, ${viewport.dark ? 'dark' : 'light'})`, async (t) => {
    const { postern, window, page, consoleErrors, hosts } = await openConsole(t, viewport);
    await mkdir(join(postern.files, 'reports'));
    await writeFile(join(postern.files, 'reports/annual.txt'), 'what was earned');
    await page.goto(postern.firstConsoleUrl ?? '');
    await page.getByRole('heading', { name: 'Welcome to Postern' }).waitFor();
    await assertAccessible(page, 'the form for the first account');
    await page.getByLabel('Your name').fill('Olga');
    await page.getByLabel('Password', { exact: true }).fill(operatorPassword);
    await page.getByLabel('Confirm password').fill(operatorPassword);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Three steps to your first link').waitFor();
    await page.getByRole('button', { name: 'Browse files' }).click();
    await page.getByRole('button', { name: /reports/ }).click();
    await page.getByText('annual.txt').waitFor();
    await assertAccessible(page, 'the file browser');
    await page.getByRole('button', { name: 'Share this folder' }).click();
    await page.getByText('Anyone with the link can view and download /reports.').waitFor();
    await page.getByRole('button', { name: 'Create share' }).click();
    await page.getByText('The link is ready').waitFor();
    const link = await page.getByLabel('Link', { exact: true }).inputValue();
    await page.getByLabel('Show QR code').click();
    await page.getByRole('img', { name: `QR code of ${link}` }).waitFor();
    assert.deepEqual(unexpectedErrors(consoleErrors), []);

    const visitor = await window.newPage();
    await visitor.goto(link);
    await visitor.getByRole('link', { name: /^annual.txt/ }).waitFor();
    const [download] = await Promise.all([
      visitor.waitForEvent('download'),
      visitor.getByRole('link', { name: 'Download annual.txt' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'annual.txt');
    assert.deepEqual([...hosts], [new URL(postern.publicUrl).host]);
  });

test('the address that creates the first account stops working once an operator exists, and the page says so', async (t) => {
  const { postern, page } = await openConsole(t);
  await postern.call('operator/add', { name: 'Olga', role: 'admin', password: operatorPassword, confirmPassword: operatorPassword });
  await page.goto(postern.firstConsoleUrl ?? '');
  await page.getByLabel('Your name').fill('Eve');
  await page.getByLabel('Password', { exact: true }).fill(operatorPassword);
  await page.getByLabel('Confirm password').fill(operatorPassword);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('This address no longer works').waitFor();
  await page.getByRole('link', { name: 'sign in' }).click();
  await page.getByRole('heading', { name: 'Sign in to Postern' }).waitFor();
});

test('a weak password is refused with the reason at its field', async (t) => {
  const { postern, page } = await openConsole(t);
  await page.goto(postern.firstConsoleUrl ?? '');
  await page.getByLabel('Your name').fill('Olga');
  await page.getByLabel('Password', { exact: true }).fill('password123');
  await page.getByText('Weak').waitFor();
  await page.getByLabel('Confirm password').fill('password123');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('Is one of the most common passwords; choose another one.').waitFor();
});
