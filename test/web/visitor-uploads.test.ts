import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { openWindow } from '../parts/chromium.ts';
import { newShare, startPostern, temporaryFolder } from '../start.ts';
import { startResettingProxy } from './resetting-proxy.ts';

const fileOf = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

test('if one of 200 uploads is interrupted, the others arrive, and a retry uploads the missing file', async (t) => {
  const proxy = await startResettingProxy(t);
  const postern = await startPostern(t, { environment: { POSTERN_PUBLIC_URL: `http://localhost:${proxy.port}` } });
  proxy.forwardTo(postern.apiUrl);
  await mkdir(join(postern.files, 'inbox'));
  const share = await postern.call('share/add', newShare({ path: '/inbox' }));
  const { window } = await openWindow(t, { width: 1440, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByText('This folder is empty.').waitFor();

  proxy.resetAt('text 77');
  const files = Array.from({ length: 200 }, (_, index) => fileOf(`file ${index}.txt`, `text ${index}`));
  await page.getByLabel('Upload', { exact: true }).setInputFiles(files);

  await page.getByText('1 file was not uploaded').waitFor({ timeout: 60_000 });
  assert.equal((await readdir(join(postern.files, 'inbox'))).length, 199);
  proxy.resetAt('');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('All files uploaded').waitFor();
  assert.equal((await readdir(join(postern.files, 'inbox'))).length, 200);
  for (const { name, buffer } of files) assert.deepEqual(await readFile(join(postern.files, 'inbox', name)), buffer);
});

test('if a name exists, the visitor can keep both files, replace or skip, for one file or for all', async (t) => {
  const postern = await startPostern(t);
  const inbox = join(postern.files, 'inbox');
  await mkdir(inbox);
  for (const name of ['a.txt', 'b.txt', 'c.txt', 'd.txt']) await writeFile(join(inbox, name), 'old');
  const share = await postern.call('share/add', newShare({ path: '/inbox' }));
  const { window } = await openWindow(t, { width: 390, dark: true });
  const page = await window.newPage();
  await page.goto(share.viewUrl);

  const upload = page.getByLabel('Upload', { exact: true });
  await upload.setInputFiles([fileOf('a.txt', 'new'), fileOf('b.txt', 'new')]);
  await page.getByRole('group', { name: 'a.txt already exists' }).waitFor();
  await page.getByText('Do the same for 1 other').waitFor();
  const { violations } = await new AxeBuilder({ page }).analyze();
  assert.deepEqual(violations, []);
  await page.getByRole('button', { name: 'Replace the existing file' }).click();
  await page.getByRole('group', { name: 'b.txt already exists' }).waitFor();
  await page.getByRole('button', { name: 'Keep both' }).click();
  await page.getByText('All files uploaded').waitFor();
  await upload.setInputFiles([fileOf('c.txt', 'new'), fileOf('d.txt', 'new')]);
  await page.getByText('Do the same for 1 other').click();
  await page.getByRole('button', { name: 'Skip this file' }).click();
  await page.getByRole('group', { name: /already exists/ }).waitFor({ state: 'detached' });

  const storedFiles = await Promise.all(
    (await readdir(inbox)).sort().map(async (name) => [name, await readFile(join(inbox, name), 'utf8')]),
  );
  assert.deepEqual(storedFiles, [
    ['a.txt', 'new'],
    ['b (2).txt', 'new'],
    ['b.txt', 'old'],
    ['c.txt', 'old'],
    ['d.txt', 'old'],
  ]);
});

test('a visitor can replace a file whose name is part of ten thousand other names in the folder', async (t) => {
  const postern = await startPostern(t);
  const inbox = join(postern.files, 'inbox');
  await mkdir(inbox);
  await writeFile(join(inbox, 'a.txt'), 'old');
  // In listings, `1-a.txt` and the like come before `a.txt`.
  await Promise.all(Array.from({ length: 10_000 }, (_, index) => writeFile(join(inbox, `${index}-a.txt`), '')));
  const share = await postern.call('share/add', newShare({ path: '/inbox' }));
  const { window } = await openWindow(t, { width: 1440, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByLabel('Upload', { exact: true }).setInputFiles(fileOf('a.txt', 'new'));
  await page.getByRole('button', { name: 'Replace the existing file' }).click();
  await page.getByText('All files uploaded').waitFor();
  assert.equal(await readFile(join(inbox, 'a.txt'), 'utf8'), 'new');
});

test('a folder is uploaded with all its subfolders and files', async (t) => {
  const postern = await startPostern(t);
  const visitorFolder = await mkdtemp(join(await temporaryFolder(t), 'own-'));
  await mkdir(join(visitorFolder, 'trip/day 1'), { recursive: true });
  await writeFile(join(visitorFolder, 'trip/plan.txt'), 'plan');
  await writeFile(join(visitorFolder, 'trip/day 1/photo.txt'), 'photo');
  await mkdir(join(postern.files, 'inbox'));
  const share = await postern.call('share/add', newShare({ path: '/inbox' }));
  const { window, consoleErrors } = await openWindow(t, { width: 1440, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);

  await page.getByLabel('Upload folder').setInputFiles(join(visitorFolder, 'trip'));
  await page.getByText('All files uploaded').waitFor();

  assert.equal(await readFile(join(postern.files, 'inbox/trip/plan.txt'), 'utf8'), 'plan');
  assert.equal(await readFile(join(postern.files, 'inbox/trip/day 1/photo.txt'), 'utf8'), 'photo');
  await page.getByRole('link', { name: /^trip/ }).waitFor();
  assert.deepEqual(consoleErrors, []);
});

test('an upload of a folder follows the current permission to create folders, also if it has changed while the page is open', async (t) => {
  const postern = await startPostern(t);
  const visitorFolder = await mkdtemp(join(await temporaryFolder(t), 'own-'));
  await mkdir(join(visitorFolder, 'trip'));
  await writeFile(join(visitorFolder, 'trip/plan.txt'), 'plan');
  const inbox = join(postern.files, 'inbox');
  await mkdir(inbox);
  const share = await postern.call('share/add', newShare({ path: '/inbox' }));
  const change = async (over: object) => postern.call('share/update', { ...(await postern.call('share/get', { id: share.id })), ...over });
  const { window } = await openWindow(t, { width: 1440, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByText('This folder is empty.').waitFor();

  await change({ canCreateFolder: false });
  await page.getByLabel('Upload folder').setInputFiles(join(visitorFolder, 'trip'));
  await page.getByText('1 file was not uploaded').waitFor();
  await page.getByText('You can view, download, upload, rename and delete.').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('Upload folder').setInputFiles(join(visitorFolder, 'trip'));
  await page.getByText(/All files uploaded|1 file was not uploaded/).waitFor();
  assert.deepEqual(await readdir(inbox), ['plan.txt']);

  await change({ canCreateFolder: true, canDelete: false });
  await page.getByRole('button', { name: 'More actions for plan.txt' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('You can view, download, upload, create folders and rename.').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByLabel('Upload folder').setInputFiles(join(visitorFolder, 'trip'));
  await page.getByRole('link', { name: /^trip/ }).waitFor();
  assert.deepEqual((await readdir(inbox)).sort(), ['plan.txt', 'trip']);
});

test('after "Keep both", the progress bar and the button of the upload have the new name of the file', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'inbox'));
  await writeFile(join(postern.files, 'inbox/a.txt'), 'old');
  const share = await postern.call('share/add', newShare({ path: '/inbox' }));
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByLabel('Upload', { exact: true }).setInputFiles(fileOf('a.txt', 'new'));
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(/a%20\(2\)\.txt/, (route) => released.then(() => route.continue()));
  await page.getByRole('button', { name: 'Keep both' }).click();
  const uploads = page.getByRole('region', { name: 'Uploads' }).getByRole('listitem');
  await uploads.getByText('a (2).txt').first().waitFor();
  const bar = uploads.getByRole('progressbar');
  await bar.waitFor();
  assert.deepEqual(
    [await bar.getAttribute('aria-label'), await uploads.getByRole('button').textContent()],
    ['a (2).txt', 'Do not upload a (2).txt'],
  );
  release();
  await page.getByText('All files uploaded').waitFor();
});

test('at a link to one file, a visitor can replace the file', async (t) => {
  const postern = await startPostern(t);
  await writeFile(join(postern.files, 'contract.txt'), 'draft');
  const share = await postern.call('share/add', newShare({ path: '/contract.txt', folder: false }));
  const { window, consoleErrors } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);

  await page.getByLabel('Replace file').setInputFiles(fileOf('final.txt', 'final'));
  await page.getByText('All files uploaded').waitFor();

  assert.equal(await readFile(join(postern.files, 'contract.txt'), 'utf8'), 'final');
  assert.deepEqual(consoleErrors, []);
});
