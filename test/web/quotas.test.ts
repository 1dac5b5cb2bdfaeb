import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { countDueFolders } from '#features/quotas/count-due-folders.ts';
import { openWindow } from '../parts/chromium.ts';
import { newShare, startPostern } from '../start.ts';
import { assertAccessible, openSignedInConsole } from './console.ts';

const fileOf = (name: string, size: number) => ({ name, mimeType: 'text/plain', buffer: Buffer.alloc(size, 'x') });

test('the page of a share with a quota shows how much space is left, and if a file does not fit, says so and what to do', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'inbox'));
  await writeFile(join(postern.files, 'inbox', 'first.txt'), Buffer.alloc(400_000));
  const share = await postern.call('share/add', newShare({ path: '/inbox', maxBytes: 1_000_000, maxFiles: 10 }));
  await countDueFolders(postern.ports, AbortSignal.timeout(60_000));
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByText('Space left: 600 kB of 1 MB.').waitFor();
  await page.getByText('Files you can still add: 9 of 10.').waitFor();

  await page.getByLabel('Upload', { exact: true }).setInputFiles([fileOf('second.txt', 500_000)]);
  await page.getByText('Space left: 100 kB of 1 MB.').waitFor();
  await page.getByLabel('Upload', { exact: true }).setInputFiles([fileOf('third.txt', 200_000)]);
  await page.getByText('There is no space left for this file').waitFor();
  await page.getByText('Choose a smaller file, or ask the person who sent you the link for more space.').waitFor();
  await assertAccessible(page, 'quota exceeded');

  await page.getByRole('button', { name: 'More actions for second.txt' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('Space left: 600 kB of 1 MB.').waitFor();
});

test('an operator sets the quota of a share and of a location in gigabytes, and sees what the location holds', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare());
  await countDueFolders(postern.ports, AbortSignal.timeout(60_000));
  const [location] = (await postern.call('location/search')).list;

  await go(`/shares/${id}`);
  await page.getByLabel('Maximum total size').fill('2.5');
  await page.getByLabel('Maximum number of files').fill('100');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. The change applies from now on.').waitFor();
  const share = await postern.call('share/get', { id });
  assert.deepEqual([share.maxBytes, share.maxFiles], [2_500_000_000, 100]);

  await go('/locations');
  await page.getByText(/^\d+ bytes? in 1 file$/).waitFor();
  await go(`/locations/${location.id}`);
  await page.getByLabel('Maximum total size').fill('0.000000001');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. The change applies from now on.').waitFor();
  assert.equal((await postern.call('location/get', { id: location.id })).maxBytes, 1);
});
