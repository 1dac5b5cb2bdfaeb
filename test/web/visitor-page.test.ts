import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { openWindow, viewports } from '../parts/chromium.ts';
import { createUsersProfile, newShare, startPostern, temporaryFolder } from '../start.ts';

for (const viewport of viewports) {
  const viewportText = `${viewport.width} px, ${viewport.dark ? 'dark' : 'light'}`;

  test(`a visitor can sign in, open folders, download and upload (${viewportText})`, async (t) => {
    const postern = await startPostern(t);
    const profile = await createUsersProfile(postern);
    await mkdir(join(postern.files, 'reports/2026'), { recursive: true });
    await writeFile(join(postern.files, 'reports/figures.csv'), 'a,b\n1,2\n');
    await writeFile(join(postern.files, 'reports/2026/march.txt'), 'March');
    const share = await postern.call('share/add', newShare({ title: 'Quarter 4', path: '/reports', authenticationId: profile.id }));
    const { window, consoleErrors } = await openWindow(t, viewport);
    const page = await window.newPage();

    await page.goto(share.viewUrl);
    await page.getByLabel('User name').fill('ann');
    await page.getByLabel('Password', { exact: true }).fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The user name or password is incorrect.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(profile.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Quarter 4' }).waitFor();
    await page.getByRole('link', { name: /^figures.csv/ }).waitFor();

    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download figures.csv' }).click();
    const download = await downloading;
    assert.equal(await readFile(await download.path(), 'utf8'), 'a,b\n1,2\n');

    await page.getByRole('link', { name: '2026' }).first().click();
    await page.getByRole('link', { name: /^march.txt/ }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: /^figures.csv/ }).waitFor();

    await page
      .getByLabel('Upload', { exact: true })
      .setInputFiles({ name: 'answer.txt', mimeType: 'text/plain', buffer: Buffer.from('forty-two') });
    await page.getByText('All files uploaded').waitFor();
    await page.getByRole('link', { name: 'Download answer.txt' }).waitFor();
    assert.equal(await readFile(join(postern.files, 'reports/answer.txt'), 'utf8'), 'forty-two');
    // The only refused request (401) is the sign-in with the wrong password.
    assert.deepEqual(
      consoleErrors.filter((text) => !text.includes('401')),
      [],
    );
  });
}

test('axe finds no problem on a list, the sign-in form, a drop box, an empty folder, an unknown link and the start page', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  await mkdir(join(postern.files, 'empty'));
  const shareWithoutSignIn = await postern.call('share/add', newShare({ title: 'Open files' }));
  const shareWithSignIn = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  const dropBox = await postern.call(
    'share/add',
    newShare({
      title: 'Drop box',
      canView: false,
      canDownload: false,
      canDownloadFolder: false,
      canCreateFolder: false,
      canRename: false,
      canDelete: false,
    }),
  );
  const shareOfEmptyFolder = await postern.call('share/add', newShare({ title: 'Nothing yet', path: '/empty' }));
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  const states: [string, string][] = [
    [shareWithoutSignIn.viewUrl, 'welcome.txt'],
    [shareWithSignIn.viewUrl, 'Sign in'],
    [dropBox.viewUrl, 'Drop files here'],
    [shareOfEmptyFolder.viewUrl, 'This folder is empty.'],
    [`${postern.publicUrl}/s/nothing-of-the-kind`, 'This link does not exist'],
    [postern.publicUrl, 'Files are shared by link'],
  ];
  for (const [url, expectedText] of states) {
    await page.goto(url);
    await page.getByText(expectedText).first().waitFor();
    const { violations } = await new AxeBuilder({ page }).analyze();
    assert.deepEqual(
      violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
      [],
      url,
    );
  }
});

test('after an upload to a drop box, the visitor sees a receipt with the SHA-256 of the file', async (t) => {
  const postern = await startPostern(t);
  const dropBox = await postern.call(
    'share/add',
    newShare({ canView: false, canDownload: false, canDownloadFolder: false, canCreateFolder: false, canRename: false, canDelete: false }),
  );
  const { window, consoleErrors } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();

  await page.goto(dropBox.viewUrl);
  await page
    .getByLabel('Upload', { exact: true })
    .setInputFiles({ name: 'scan.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7') });

  await page.getByRole('heading', { name: 'Received' }).waitFor();
  await page.getByText(createHash('sha256').update('%PDF-1.7').digest('hex')).waitFor();
  assert.equal(await readFile(join(postern.files, 'scan.pdf'), 'utf8'), '%PDF-1.7');
  assert.deepEqual(consoleErrors, []);
});

test('the receipt shows the name under which a large file is stored after "Keep both"', async (t) => {
  const postern = await startPostern(t);
  await writeFile(join(postern.files, 'film.mp4'), 'old');
  const dropBox = await postern.call('share/add', newShare({ canView: false, canDownload: false, canDownloadFolder: false }));
  const film = join(await temporaryFolder(t), 'film.mp4');
  await writeFile(film, Buffer.alloc(9 << 20, 'film')); // files above 8 MiB are sent in parts
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  await page.goto(dropBox.viewUrl);
  await page.getByLabel('Upload', { exact: true }).setInputFiles(film);
  await page.getByRole('button', { name: 'Keep both' }).click();
  const receipt = page.locator('.receipt').getByRole('listitem');
  await receipt.waitFor();
  assert.match((await receipt.textContent()) ?? '', /film \(2\)\.mp4/);
  assert.equal((await stat(join(postern.files, 'film (2).mp4'))).size, 9 << 20);
});

test('a saved receipt has a dash for a checksum that the server does not know', async (t) => {
  const postern = await startPostern(t);
  const dropBox = await postern.call('share/add', newShare({ canView: false, canDownload: false, canDownloadFolder: false }));
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  await page.route(/\/file\//, (route) => route.fulfill({ status: 201, json: { name: 'scan.pdf', size: 8, sha256: null } }));
  await page.goto(dropBox.viewUrl);
  await page
    .getByLabel('Upload', { exact: true })
    .setInputFiles({ name: 'scan.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7') });
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Save receipt' }).click();
  assert.match(await readFile(await (await download).path(), 'utf8'), /\n- {2}8 {2}scan\.pdf\n$/);
});

test('after a link is deactivated, the next click on its page shows that the link does not exist', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'inner'));
  const share = await postern.call('share/add', newShare());
  const { window } = await openWindow(t, { width: 1440, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();

  await postern.call('share/update', { ...(await postern.call('share/get', { id: share.id })), active: false });
  await page.getByRole('link', { name: 'inner' }).first().click();

  await page.getByRole('heading', { name: 'This link does not exist' }).waitFor();
});

test('the page at the public address explains how to open a link, and links to the API reference', async (t) => {
  const postern = await startPostern(t);
  const { window, consoleErrors } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();

  await page.goto(postern.publicUrl);
  await page.getByText('Open the complete link that was sent to you').waitFor();
  await page.getByRole('link', { name: 'try the API' }).click();

  await page.waitForURL(/\/docs/);
  assert.deepEqual(consoleErrors, []);
});
