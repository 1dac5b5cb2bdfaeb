import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWindow } from '../parts/chromium.ts';
import { createUsersProfile, newShare, startPostern } from '../start.ts';

test('a visitor can sign in, open a folder, preview a file and rename it with the keyboard alone', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  await mkdir(join(postern.files, 'reports/inner'), { recursive: true });
  await writeFile(join(postern.files, 'reports/inner/notes.txt'), 'what was said');
  const share = await postern.call('share/add', newShare({ path: '/reports', authenticationId: profile.id }));
  const { window } = await openWindow(t, { width: 1440, dark: false });
  const page = await window.newPage();
  const { keyboard } = page;
  const waitForFocus = (text: RegExp) => page.locator(':focus').filter({ hasText: text }).waitFor();
  /** Presses Tab until the text of the focused element matches. */
  async function tabTo(text: RegExp): Promise<void> {
    for (let press = 0; press < 40; press += 1) {
      await keyboard.press('Tab');
      if (text.test((await page.locator(':focus').textContent()) ?? '')) return;
    }
    assert.fail(`the keyboard does not reach ${text}`);
  }

  await page.goto(share.viewUrl);
  await page.getByLabel('User name').waitFor();
  await keyboard.type('ann');
  await keyboard.press('Tab');
  await keyboard.type(profile.password);
  await keyboard.press('Enter');
  await page.getByRole('link', { name: /^inner/ }).waitFor();
  await tabTo(/^inner/);
  await keyboard.press('Enter');
  await page.getByRole('link', { name: /^notes.txt/ }).waitFor();
  await tabTo(/^notes.txt/);
  await keyboard.press('Enter');
  await page.getByText('what was said').waitFor();
  await keyboard.press('Escape');
  await waitForFocus(/^notes.txt/);
  await tabTo(/^More actions for notes.txt/);
  await keyboard.press('Enter');
  await waitForFocus(/^Rename/);
  await keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await keyboard.type('minutes'); // the name is selected without its extension
  await keyboard.press('Enter');
  await page.getByRole('link', { name: /^minutes.txt/ }).waitFor();
  assert.deepEqual(await readdir(join(postern.files, 'reports/inner')), ['minutes.txt']);
});

test('the pages of a link are not wider than the screen at 320 to 2560 px, even with long names', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  await mkdir(join(postern.files, 'long'));
  await writeFile(join(postern.files, 'long', `${'a very long name '.repeat(12)}.txt`), 'x');
  await writeFile(join(postern.files, 'long', `${'x'.repeat(200)}.txt`), 'x'.repeat(5000));
  const share = await postern.call('share/add', newShare({ path: '/long', title: 'W'.repeat(120), description: 'd'.repeat(300) }));
  const shareWithSignIn = await postern.call('share/add', newShare({ path: '/long', authenticationId: profile.id }));
  const endedShare = await postern.call('share/add', newShare({ path: '/long', validityEndDate: '2026-01-01' }));
  for (const width of [320, 390, 768, 2560]) {
    const { window } = await openWindow(t, { width, dark: false });
    const page = await window.newPage();
    for (const [url, expectedText] of [
      [share.viewUrl, '2 items'],
      [`${share.viewUrl}#preview/${'x'.repeat(200)}.txt`, 'xxxx'],
      [shareWithSignIn.viewUrl, 'Sign in'],
      [endedShare.viewUrl, 'This link has expired'],
    ] as const) {
      await page.goto('about:blank');
      await page.goto(url);
      await page.getByText(expectedText).first().waitFor();
      assert.equal(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'), false, `${width} px: ${url}`);
    }
    await window.close();
  }
});
