import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWindow } from '../parts/chromium.ts';
import { newShare, startPostern } from '../start.ts';

test('in a large folder, rows that could not be loaded are loaded after another request has succeeded', async (t) => {
  const postern = await startPostern(t);
  const folder = join(postern.files, 'many');
  await mkdir(folder);
  await Promise.all(Array.from({ length: 1500 }, (_, index) => writeFile(join(folder, `file-${String(index).padStart(4, '0')}.txt`), '')));
  const share = await postern.call('share/add', newShare({ path: '/many' }));
  const { window } = await openWindow(t, { width: 1440, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByText('1,500 items').waitFor();
  // The second page ends in the middle of the screen, so the second and the third page are requested. Only the third one succeeds.
  const secondPage = /startIndex=500&/;
  const thirdPageRequested = page.waitForRequest(/startIndex=1000&/);
  await page.route(secondPage, async (route) => {
    await thirdPageRequested;
    await route.fulfill({ status: 500, json: {} });
  });
  const releaseThirdPage = Promise.withResolvers<void>();
  await page.route(/startIndex=1000&/, async (route) => {
    await releaseThirdPage.promise;
    await route.continue();
  });
  const secondPageFailed = page.waitForResponse(secondPage);
  await page.evaluate(`scrollTo(0, document.querySelector('.rows').offsetTop + 1000 * 53 - innerHeight / 2)`);
  await secondPageFailed;
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await page.unroute(secondPage);
  releaseThirdPage.resolve();
  await page.getByRole('link', { name: /^file-1001.txt/ }).waitFor();
  await page.getByRole('link', { name: /^file-0998.txt/ }).waitFor();
});

test('a visitor can scroll a folder of 3000 files to its end, search it, and download selected files', async (t) => {
  const postern = await startPostern(t);
  const folder = join(postern.files, 'many');
  await mkdir(folder);
  const nameOf = (index: number) => `file-${String(index).padStart(4, '0')}.txt`;
  await Promise.all(Array.from({ length: 3000 }, (_, index) => writeFile(join(folder, nameOf(index)), String(index))));
  const share = await postern.call('share/add', newShare({ path: '/many' }));
  const { window, consoleErrors } = await openWindow(t, { width: 1440, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByText('3,000 items').waitFor();
  assert.ok((await page.getByRole('listitem').count()) < 100, 'only the visible rows and a few more are in the page');

  await page.keyboard.press('End');
  await page.getByRole('link', { name: /^file-2999.txt/ }).waitFor();
  assert.equal(await page.getByRole('listitem').last().getAttribute('aria-posinset'), '3000');

  await page.getByLabel('Select file-2999.txt').check();
  await page.getByLabel('Select file-2998.txt').check();
  await page.getByText('2 selected').waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download as ZIP' }).click();
  await (await download).path();

  await page.getByRole('searchbox').fill('0123');
  await page.getByText('1 item', { exact: true }).waitFor();
  await page.getByRole('link', { name: /^file-0123.txt/ }).waitFor();
  assert.deepEqual(consoleErrors, []);
});
