import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { newShare } from '../start.ts';
import { assertAccessible, openSignedInConsole } from './console.ts';

test('the command palette finds commands and records, and Enter opens the first result', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await postern.call('share/add', newShare({ title: 'Annual reports' }));
  await go('');
  await page.getByText('Signed in as').waitFor();
  const { keyboard } = page;
  const palette = page.getByPlaceholder('Search or run a command').last();
  await keyboard.press('Control+k');
  await palette.pressSequentially('annual');
  await page.getByText('Share of /').waitFor();
  await assertAccessible(page, 'palette');
  await keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Annual reports' }).waitFor();
  await keyboard.press('Control+k');
  await palette.pressSequentially('add user');
  await keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Add user' }).waitFor();
  // The palette also opens from a text field, and Enter works before the search response arrives.
  await page.getByLabel('User name').focus();
  await keyboard.press('Control+k');
  await palette.pressSequentially('annual');
  await keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Annual reports' }).waitFor();
});

test('an operator can create a share with the keyboard alone', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await mkdir(join(postern.files, 'reports'));
  await go('');
  await page.getByText('Signed in as').waitFor();
  const { keyboard } = page;
  const focusedText = async () => page.evaluate('(document.activeElement.labels?.[0] ?? document.activeElement).textContent');
  async function tabTo(words: RegExp): Promise<void> {
    for (let press = 0; press < 60; press += 1) {
      await keyboard.press('Tab');
      if (words.test(String(await focusedText()))) return;
    }
    assert.fail(`the keyboard does not reach ${words}`);
  }
  await page.reload();
  await page.getByText('Signed in as').waitFor();
  await keyboard.press('Tab');
  assert.match(String(await focusedText()), /Skip to content/);
  await tabTo(/^Shares$/);
  await keyboard.press('Enter');
  await page.getByText('No shares yet').waitFor();
  await tabTo(/^Create share$/);
  await keyboard.press('Enter');
  await tabTo(/^Browse files$/);
  await keyboard.press('Enter');
  await page.getByRole('dialog').getByText('reports').waitFor();
  await tabTo(/^reports$/);
  await keyboard.press('Enter');
  await page.getByText('This folder is empty').waitFor();
  await tabTo(/^Share this folder$/);
  await keyboard.press('Enter');
  await page.getByText('can view and download /reports').waitFor();
  await tabTo(/^Create share$/);
  await keyboard.press('Enter');
  await page.getByText('The link is ready').waitFor();
});

test('the audit log shows changed fields, can be searched by operator, and can be exported as CSV', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Reports' }));
  await postern.call('share/update', { ...(await postern.call('share/get', { id })), title: 'Reports of 2026' });
  await go('/activity');
  const lines = page.locator('.records');
  await lines.getByText('Changed a share').waitFor();
  await page.getByText('changed field').first().click();
  await lines.locator('.difference').getByRole('cell', { name: 'Reports of 2026' }).waitFor();
  await page.getByRole('searchbox').fill('olga');
  await lines.getByText('Changed a share').waitFor({ state: 'detached' });
  await lines.getByText('Signed in to the console').first().waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Export as CSV' }).click()]);
  assert.match(download.suggestedFilename(), /\.csv$/);
});
