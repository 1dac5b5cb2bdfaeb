import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { openWindow } from '../parts/chromium.ts';
import { samplePdf, samplePhoto } from '../parts/sample-documents.ts';
import { newShare, startPostern } from '../start.ts';

async function openProtected(t: TestContext, over: object, { width = 390, dark = false } = {}) {
  const postern = await startPostern(t);
  await writeFile(join(postern.files, 'paper.pdf'), await samplePdf());
  await writeFile(join(postern.files, 'photo.jpg'), await samplePhoto());
  await writeFile(join(postern.files, 'words.txt'), 'words');
  const share = await postern.call('share/add', newShare(over));
  const { window, consoleErrors } = await openWindow(t, { width, dark });
  const page = await window.newPage();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  await page.goto(share.viewUrl);
  await page.getByText('These files are protected', { exact: false }).waitFor();
  return { page, requests, consoleErrors, base: new URL(share.viewUrl).pathname };
}

test('on a phone, a visitor sees the pages of a protected document as pictures, and the browser requests neither file nor archive', async (t) => {
  const { page, requests, consoleErrors, base } = await openProtected(t, { copyProtect: true });
  await page.getByRole('link', { name: /^paper.pdf/ }).click();
  const first = page.getByRole('img', { name: /^Page 1 of 3 as a picture/ });
  await first.waitFor();
  await page.locator('.preview img:not(.drawing)').first().waitFor();
  const box = await first.boundingBox();
  assert.ok(box && box.width <= 390 && Math.abs(box.height / box.width - 1.5) < 0.02, JSON.stringify(box));
  assert.equal(await page.getByRole('img', { name: /^Page/ }).count(), 3);
  const { violations } = await new AxeBuilder({ page }).analyze();
  assert.deepEqual(violations, []);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  const zoomed = page.locator('.preview img[width="448"]');
  await zoomed.first().waitFor();
  assert.equal(
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /Download/ })
      .count(),
    0,
  );
  assert.ok(requests.some((path) => path === `${base}/page/paper.pdf`));
  assert.deepEqual(
    requests.filter((path) => /\/(view|file|zip)\//.test(path)),
    [],
  );
  assert.deepEqual(consoleErrors, []);
});

test('if the owner permits it, a visitor can read the text of a protected document', async (t) => {
  const { page, consoleErrors } = await openProtected(t, { copyProtect: true, copyProtectText: true });
  await page.getByRole('link', { name: /^paper.pdf/ }).click();
  await page.getByRole('img', { name: 'Page 1 of 3', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show the text' }).click();
  await page.locator('.page-text').first().waitFor();
  const { violations } = await new AxeBuilder({ page }).analyze();
  assert.deepEqual(violations, []);
  assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 390);
  await page.getByRole('button', { name: 'Show the text' }).click();
  await page.locator('.page-text').first().waitFor({ state: 'detached' });
  assert.deepEqual(consoleErrors, []);
});

test('with a watermark, documents can be opened and downloaded, and files that cannot carry one have no link', async (t) => {
  const { page, consoleErrors } = await openProtected(t, { waterMarkText: 'For {ip}' }, { width: 1440, dark: true });
  assert.equal(await page.getByRole('link', { name: /^words.txt/ }).count(), 0);
  await page.getByRole('link', { name: /^photo.jpg/ }).click();
  await page.getByRole('img', { name: /^Page 1 of 1 as a picture/ }).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('link', { name: 'Download photo.jpg' }).click();
  assert.equal((await download).suggestedFilename(), 'photo.jpg');
  assert.deepEqual(consoleErrors, []);
});
