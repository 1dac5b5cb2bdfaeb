import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import sharp from 'sharp';
import { openWindow } from '../parts/chromium.ts';
import { samplePdf, samplePhoto } from '../parts/sample-documents.ts';
import { until } from '../ports/until.ts';
import { newShare, startPostern } from '../start.ts';

for (const [width, dark] of [
  [390, false],
  [1440, true],
] as const)
  test(`at ${width} px, a visitor shows a folder as a grid with thumbnails, and the page keeps the choice`, async (t) => {
    const postern = await startPostern(t);
    await mkdir(join(postern.files, 'box/inner'), { recursive: true });
    const put = (name: string, bytes: Buffer | string) => writeFile(join(postern.files, 'box', name), bytes);
    await put('paper.pdf', await samplePdf());
    await put('photo.jpg', await samplePhoto());
    await put('damaged.png', 'no image');
    await put('words of a rather long name that needs two lines.txt', 'words');
    for (let index = 0; index < 80; index += 1)
      await put(
        `small ${index}.png`,
        await sharp({ create: { width: 9, height: 9, channels: 3, background: '#469' } })
          .png()
          .toBuffer(),
      );
    const share = await postern.call('share/add', newShare({ path: '/box', canDelete: true }));
    const { window, consoleErrors } = await openWindow(t, { width, dark });
    const page = await window.newPage();
    await page.goto(share.viewUrl);
    await page.getByRole('button', { name: 'Show as grid' }).click();
    const card = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: false }) });
    for (const name of ['paper.pdf', 'photo.jpg']) {
      const picture = card(name).locator('img');
      await picture.waitFor();
      await until(async () => Number(await picture.evaluate((image) => Reflect.get(image, 'naturalWidth'))) > 0);
    }
    await card('damaged.png').locator('svg').first().waitFor();
    assert.equal(await card('damaged.png').locator('img').count(), 0);
    assert.equal(await card('words of').locator('img').count(), 0);
    const { violations } = await new AxeBuilder({ page }).analyze();
    assert.deepEqual(violations, []);
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= width);
    assert.ok((await page.locator('.entry-card').count()) < 80, 'only the cards near the screen are drawn');

    await page.reload();
    await card('paper.pdf').getByRole('link', { name: /paper/ }).first().click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Show as list' }).click();
    await page.locator('.row').first().waitFor();
    assert.deepEqual(
      consoleErrors.filter((text) => !text.includes('415')),
      [],
    );
  });
