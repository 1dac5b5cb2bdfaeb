import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { openWindow, viewports } from '../parts/chromium.ts';
import { until } from '../ports/until.ts';
import { createUsersProfile, newShare, startPostern, temporaryFolder } from '../start.ts';
import { checkInterruptedUpload } from './interrupted-upload.ts';

const mebibyte = 1 << 20;

test('a large upload is stored once and complete, even if the connection is cut and the page is reloaded', (t) =>
  checkInterruptedUpload(t, 48 * mebibyte, 3));

for (const viewport of viewports)
  test(`the list of unfinished uploads is accessible and refuses a wrong file, ${viewport.width} px, ${viewport.dark ? 'dark' : 'light'}`, async (t) => {
    const postern = await startPostern(t);
    const share = await postern.call('share/add', newShare());
    const folder = await temporaryFolder(t);
    const [film, other] = [join(folder, 'holiday film.mp4'), join(folder, 'other.mp4')];
    await writeFile(film, Buffer.alloc(12 * mebibyte, 'film'));
    await writeFile(other, Buffer.alloc(11 * mebibyte, 'other'));
    const { window, consoleErrors } = await openWindow(t, viewport);
    const page = await window.newPage();
    await page.goto(share.viewUrl);
    await page.route('**/upload/**', (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()));
    await page.getByLabel('Upload', { exact: true }).setInputFiles(film);
    await page.getByText('The upload continues by itself').waitFor();
    page.once('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.getByRole('heading', { name: 'Unfinished uploads' }).waitFor();
    await page.unroute('**/upload/**'); // not before the reload: the upload could continue, and be complete by then
    await page.getByLabel('Choose the file').setInputFiles(other);
    await page.getByText('This is another file.').waitFor();
    assert.deepEqual((await new AxeBuilder({ page }).analyze()).violations, []);
    if (process.env['POSTERN_PICTURES'])
      await page.screenshot({ path: join(process.env['POSTERN_PICTURES'], `unfinished-${viewport.width}-${viewport.dark}.png`) });
    await page.getByRole('button', { name: 'Do not upload holiday film.mp4' }).click();
    await page.getByRole('heading', { name: 'Unfinished uploads' }).waitFor({ state: 'detached' });
    const uploads = postern.ports.store.read.selectFrom('resumable_upload').selectAll();
    await until(async () => (await uploads.execute()).length === 0); // the page does not wait for the deletion
    assert.deepEqual(
      consoleErrors.filter((line) => !/Failed to load resource/.test(line)),
      [],
    );
  });

test('a large upload whose session ends continues where it stopped after the visitor has signed in again', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann']);
  const share = await postern.call('share/add', newShare({ authenticationId: profile.id, allowAllUsers: true }));
  const film = join(await temporaryFolder(t), 'film.mp4');
  await writeFile(film, Buffer.alloc(80 * mebibyte, 'film'));
  const { window } = await openWindow(t, { width: 1440, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  async function signInAtPage(): Promise<void> {
    await page.getByLabel('User name').fill('ann');
    await page.getByLabel('Password', { exact: true }).fill(profile.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }
  await signInAtPage();
  const offsets: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PATCH') offsets.push(request.headers()['upload-offset'] ?? '');
  });
  page.on('response', (response) => {
    // The session ends after the first part.
    if (response.request().method() === 'PATCH' && response.status() === 204 && offsets.length === 1) void window.clearCookies();
  });
  await page.getByLabel('Upload', { exact: true }).setInputFiles(film);
  await page.getByRole('dialog').waitFor();
  await signInAtPage();
  await page.getByText('All files uploaded').waitFor({ timeout: 60_000 });
  assert.equal(offsets[0], '0');
  assert.equal(offsets.at(-1), `${64 * mebibyte}`);
  assert.equal((await readFile(join(postern.files, 'film.mp4'))).length, 80 * mebibyte);
});

test('a second tab does not list, and so cannot end, the upload that the first tab is sending', async (t) => {
  const postern = await startPostern(t);
  const share = await postern.call('share/add', newShare());
  const folder = await temporaryFolder(t);
  const [stopped, running] = [join(folder, 'stopped.mp4'), join(folder, 'running.mp4')];
  await writeFile(stopped, Buffer.alloc(12 * mebibyte, 'stopped'));
  await writeFile(running, Buffer.alloc(12 * mebibyte, 'running'));
  const { window } = await openWindow(t, { width: 1440, dark: false });
  const page = await window.newPage();
  await page.route('**/upload/**', (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()));
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto(share.viewUrl);
  const upload = page.getByLabel('Upload', { exact: true });
  await upload.setInputFiles(stopped);
  await page.getByText('The upload continues by itself').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Unfinished uploads' }).waitFor();
  await upload.setInputFiles(running);
  await page.getByText('The upload continues by itself').waitFor();

  const secondTab = await window.newPage();
  await secondTab.goto(share.viewUrl);
  await secondTab.getByRole('button', { name: 'Do not upload stopped.mp4' }).waitFor();
  await secondTab.getByRole('button', { name: 'Do not upload running.mp4' }).waitFor({ state: 'detached' });
});

test('a second tab lists an upload as soon as the first tab, which was sending it, opens another page', async (t) => {
  const postern = await startPostern(t);
  const share = await postern.call('share/add', newShare());
  const film = join(await temporaryFolder(t), 'film.mp4');
  await writeFile(film, Buffer.alloc(12 * mebibyte, 'film'));
  const { window } = await openWindow(t, { width: 1440, dark: false });
  const [page, secondTab] = [await window.newPage(), await window.newPage()];
  await page.route('**/upload/**', (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()));
  page.on('dialog', (dialog) => void dialog.accept());
  for (const tab of [page, secondTab]) await tab.goto(share.viewUrl);
  await page.getByLabel('Upload', { exact: true }).setInputFiles(film);
  await page.getByText('The upload continues by itself').waitFor();
  assert.equal(await secondTab.getByRole('heading', { name: 'Unfinished uploads' }).count(), 0);
  await page.goto('about:blank');
  await secondTab.getByRole('button', { name: 'Do not upload film.mp4' }).waitFor();
});
