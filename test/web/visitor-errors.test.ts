import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { openWindow, type Viewport } from '../parts/chromium.ts';
import { until } from '../ports/until.ts';
import { createUsersProfile, newShare, startPostern, temporaryFolder } from '../start.ts';
import { assertAccessible } from './console.ts';
import { startResettingProxy } from './resetting-proxy.ts';

const phone: Viewport = { width: 390, dark: false };
const fileOf = (name: string, text = name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

/** Creates a share of a folder and opens its page. */
async function openShare(t: TestContext, over: object = {}, files: readonly string[] = [], viewport = phone) {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'inbox'));
  for (const name of files) await writeFile(join(postern.files, 'inbox', name), name);
  const share = await postern.call('share/add', newShare({ path: '/inbox', ...over }));
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  return { postern, page, window, share, inbox: join(postern.files, 'inbox') };
}

/** Holds matching requests until `release` is called. `requested` resolves when the first of them is sent. */
async function holdRequests(
  page: Page,
  address: RegExp,
  method: string,
  handle: (route: Route) => Promise<void> = (route) => route.continue(),
) {
  const { promise: requested, resolve: noteRequest } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(address, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    noteRequest();
    await released;
    await handle(route);
  });
  return { requested, release };
}

test('if the connection breaks while a visitor replaces the shared file, a retry succeeds', async (t) => {
  const { page, postern } = await openShare(t, { path: '/inbox/draft.txt', folder: false }, ['draft.txt']);
  await page.route(/\/file/, (route) => route.abort(), { times: 1 });
  await page.getByLabel('Replace file').setInputFiles(fileOf('final.txt'));
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('All files uploaded').waitFor();
  assert.equal(await readFile(join(postern.files, 'inbox/draft.txt'), 'utf8'), 'final.txt');
});

test('if the connection breaks in the middle of a response, the page loads the folder again by itself', async (t) => {
  const proxy = await startResettingProxy(t);
  const postern = await startPostern(t, { environment: { POSTERN_PUBLIC_URL: `http://localhost:${proxy.port}` } });
  proxy.forwardTo(postern.apiUrl);
  await writeFile(join(postern.files, 'a.txt'), 'a');
  const share = await postern.call('share/add', newShare());
  const { window } = await openWindow(t, phone);
  const page = await window.newPage();
  proxy.cutResponseTo('/list?');
  await page.goto(share.viewUrl);
  await page.getByText('No connection').waitFor();
  await page.getByRole('link', { name: /^a.txt/ }).waitFor();
});

test('an upload that was paused with one file left continues after Resume', async (t) => {
  const { page, inbox } = await openShare(t);
  const { requested, release } = await holdRequests(page, /\/file\//, 'PUT');
  await page.getByLabel('Upload', { exact: true }).setInputFiles(['1', '2', '3', '4'].map((name) => fileOf(name)));
  await requested;
  await page.getByRole('button', { name: 'Pause after the current files' }).click();
  release();
  await until(async () => (await readdir(inbox)).length === 3);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('All files uploaded').waitFor();
  assert.deepEqual((await readdir(inbox)).sort(), ['1', '2', '3', '4']);
});

test('a file that is removed from the upload while its folder is created is not uploaded', async (t) => {
  const { page, inbox } = await openShare(t, {}, [], { width: 1440, dark: false });
  const visitorFolder = await mkdtemp(join(await temporaryFolder(t), 'own-'));
  await mkdir(join(visitorFolder, 'trip'));
  await writeFile(join(visitorFolder, 'trip/secret.txt'), 'secret');
  const { requested, release } = await holdRequests(page, /\/folder\//, 'POST');
  await page.getByLabel('Upload folder').setInputFiles(join(visitorFolder, 'trip'));
  await requested;
  await page.getByRole('button', { name: 'Do not upload secret.txt' }).click();
  release();
  await page.getByLabel('Upload', { exact: true }).setInputFiles(fileOf('later.txt'));
  await page.getByText('All files uploaded').waitFor();
  assert.deepEqual((await readdir(inbox)).sort(), ['later.txt', 'trip']);
  assert.equal(existsSync(join(inbox, 'trip/secret.txt')), false);
});

test('a failed sign-in during an upload keeps the waiting files, and Escape does not close the dialog', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  await mkdir(join(postern.files, 'inbox'));
  const share = await postern.call('share/add', newShare({ path: '/inbox', authenticationId: profile.id }));
  const { window } = await openWindow(t, phone);
  const page = await window.newPage();
  const signIn = async () => {
    await page.getByLabel('User name').fill('ann');
    await page.getByLabel('Password', { exact: true }).fill(profile.password);
    await page.keyboard.press('Enter');
  };
  await page.goto(share.viewUrl);
  await signIn();
  await page.getByText('This folder is empty.').waitFor();
  await window.clearCookies();
  await page.getByLabel('Upload', { exact: true }).setInputFiles([fileOf('a.txt'), fileOf('b.txt')]);
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  for (let press = 0; press < 4; press += 1) await page.keyboard.press('Escape');
  await dialog.waitFor();
  await page.route(/sign-in$/, (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }), {
    times: 1,
  });
  await signIn();
  await dialog.getByText('The files are not available right now').waitFor();
  await signIn();
  await page.getByText('All files uploaded').waitFor();
  assert.deepEqual((await readdir(join(postern.files, 'inbox'))).sort(), ['a.txt', 'b.txt']);
});

test('leaving the page during an upload asks for confirmation', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  const share = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  const { window } = await openWindow(t, phone);
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByLabel('User name').fill('ann');
  await page.getByLabel('Password', { exact: true }).fill(profile.password);
  await page.keyboard.press('Enter');
  const { requested, release } = await holdRequests(page, /\/file\//, 'PUT');
  await page.getByLabel('Upload', { exact: true }).setInputFiles(fileOf('a.txt'));
  await requested;
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('dialog').getByText('Files are still uploading.', { exact: false }).waitFor();
  await assertAccessible(page, 'leaving');
  await page.getByRole('button', { name: 'Cancel' }).click();
  const leaving = page.waitForEvent('dialog');
  void page.reload().catch(() => {});
  await (await leaving).dismiss();
  release();
  await page.getByText('All files uploaded').waitFor();
});

test('"Select all" also selects files that the page has not loaded yet', async (t) => {
  const names = Array.from({ length: 700 }, (_, index) => `file ${index}.txt`);
  const { page } = await openShare(t, {}, names);
  await page.getByLabel('Select file 0.txt').check();
  await page.getByRole('button', { name: 'Select all' }).click();
  await page.getByText('700 selected').first().waitFor();
  assert.match((await page.getByRole('link', { name: 'Download as ZIP' }).getAttribute('href')) ?? '', /\/zip$/);
});

test('if "Select all" fails, the page says why, and the selection stays', async (t) => {
  const { page } = await openShare(t, {}, ['a.txt', 'b.txt']);
  await page.getByLabel('Select a.txt').check();
  await page.route(/\/list\?/, (route) => route.abort(), { times: 1 });
  await page.getByRole('button', { name: 'Select all' }).click();
  await page.getByRole('alert').getByText('No connection').waitFor();
  await page.getByText('1 selected').first().waitFor();
  await assertAccessible(page, 'a failed "Select all"');
  await page.getByRole('button', { name: 'Select all' }).click();
  await page.getByText('2 selected').first().waitFor();
  assert.equal(await page.getByText('No connection').count(), 0);
});

test('a "Select all" that ends after the visitor has opened another folder selects nothing there', async (t) => {
  const { page, inbox } = await openShare(t, {}, ['a.txt', 'b.txt']);
  await mkdir(join(inbox, 'other'));
  await writeFile(join(inbox, 'other/c.txt'), 'c');
  await page.getByLabel('Select a.txt').check();
  const { requested, release } = await holdRequests(page, /pageSize=10000/, 'GET');
  await page.getByRole('button', { name: 'Select all' }).click();
  await requested;
  await page.evaluate("location.hash = '#/other'");
  await page.getByLabel('Select c.txt').waitFor();
  const response = page.waitForResponse(/pageSize=10000/);
  release();
  await (await response).finished();
  await page.getByLabel('Select c.txt').check();
  await page.getByText('1 selected').first().waitFor();
});

test('after a refused action, the page offers only the actions that are still permitted', async (t) => {
  const { page, postern, share } = await openShare(t, {}, ['a.txt']);
  await page.getByRole('link', { name: /^a.txt/ }).waitFor();
  const currentShare = await postern.call('share/get', { id: share.id });
  await postern.call('share/update', { ...currentShare, canUpload: false, canRename: false, canDelete: false, canCreateFolder: false });
  await page.getByRole('button', { name: 'New folder' }).click();
  await page.getByLabel('Name').fill('more');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('This is not allowed here').waitFor();
  assert.equal(await page.getByLabel('Name').inputValue(), 'more');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('You can view and download.').waitFor();
  assert.equal(await page.getByRole('button', { name: /^More actions for/ }).count(), 0);
  assert.equal(await page.getByLabel('Upload', { exact: true }).count(), 0);
});

test('a refused download is reported on the page', async (t) => {
  const { page, inbox } = await openShare(t, {}, ['a.txt']);
  await page.getByRole('link', { name: 'Download a.txt' }).waitFor();
  await rm(join(inbox, 'a.txt'));
  await page.getByRole('link', { name: 'Download a.txt' }).click();
  await page.getByRole('alert').getByText('This is no longer here').waitFor();
  await assertAccessible(page, 'a refused download');
});

test('if the download of a folder is no longer permitted, the page reports this and no longer offers the download', async (t) => {
  const { page, postern, share } = await openShare(t, {}, ['a.txt']);
  const link = page.getByRole('link', { name: 'Download all as ZIP' });
  await link.waitFor();
  const currentShare = await postern.call('share/get', { id: share.id });
  await postern.call('share/update', { ...currentShare, canDownloadFolder: false });
  await link.click();
  await page.getByRole('alert').getByText('This is not allowed here').waitFor();
  await link.waitFor({ state: 'detached' });
});

test('protected files that cannot carry a watermark are listed without links', async (t) => {
  for (const over of [{ copyProtect: true }, { waterMarkText: 'Ann' }]) {
    const { page } = await openShare(t, { ...over, canRename: false, canDelete: false, canUpload: false, canCreateFolder: false }, [
      'a.txt',
    ]);
    await page.getByText('These files are protected', { exact: false }).waitFor();
    await page.getByText('a.txt').first().waitFor();
    assert.equal(await page.getByRole('main').getByRole('link', { name: 'a.txt' }).count(), 0);
    await assertAccessible(page, 'protected');
  }
});

test('a link that only permits a download of the entire folder offers only this download', async (t) => {
  const none = { canView: false, canDownload: false, canRename: false, canDelete: false, canUpload: false, canCreateFolder: false };
  const { page } = await openShare(t, { ...none, canDownloadFolder: true }, ['a.txt']);
  await page.getByText('You can download.').waitFor();
  await assertAccessible(page, 'the ZIP file alone');
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download all as ZIP' }).click();
  assert.equal((await download).suggestedFilename(), 'inbox.zip');
});

test('at 320 px, the selection bar and a long user name fit the page in several languages', async (t) => {
  const postern = await startPostern(t);
  await writeFile(join(postern.files, 'a.txt'), 'a');
  await writeFile(join(postern.files, 'b.txt'), 'b');
  const name = 'anna.schmidt.kanzleimuellerundpartner.de';
  const profile = await createUsersProfile(postern, [name]);
  const share = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  for (const locale of ['de', 'fr', 'pt', 'ar']) {
    const { window } = await openWindow(t, { width: 320, dark: false, locale });
    const page = await window.newPage();
    await page.goto(share.viewUrl);
    await page.locator('[name=username]').fill(name);
    await page.locator('[name=password]').fill(profile.password);
    await page.keyboard.press('Enter');
    await page.getByRole('checkbox').first().check();
    await page.locator('.selection-bar').waitFor();
    const [pageWidth, primaryButton] = [
      await page.evaluate('document.documentElement.scrollWidth'),
      page.locator('.selection-bar .primary'),
    ];
    assert.equal(pageWidth, 320, locale);
    const box = await primaryButton.boundingBox();
    assert.ok(box && box.x >= 0 && box.x + box.width <= 320, `${locale}: ${JSON.stringify(box)}`);
    for (const button of await page.locator('.who button').all()) {
      const buttonBox = await button.boundingBox();
      assert.ok(
        buttonBox && buttonBox.width >= 40 && buttonBox.x >= 0 && buttonBox.x + buttonBox.width <= 320,
        `${locale}: ${JSON.stringify(buttonBox)}`,
      );
    }
    await window.close();
  }
});

test('a direction mark in a file name is shown as a replacement character', async (t) => {
  const { page } = await openShare(t, {}, ['invoice\u202Efdp.exe']);
  await page.getByRole('link', { name: /^invoice\ufffdfdp\.exe/ }).waitFor();
  await page.getByRole('button', { name: 'More actions for invoice\ufffdfdp.exe' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Delete invoice\ufffdfdp.exe?' }).waitFor();
});

test('a direction mark in a title or in the path of a folder is shown as a replacement character', async (t) => {
  const { page, inbox, share } = await openShare(t, { title: 'Plans \u202Egpj' });
  await mkdir(join(inbox, 'old\u202Efdp/inner'), { recursive: true });
  await page.goto(`${share.viewUrl}#/old%E2%80%AEfdp/inner`);
  await page.getByRole('navigation').getByRole('link', { name: 'old\ufffdfdp' }).waitFor();
  assert.equal(await page.title(), 'Plans \ufffdgpj');
});

test('the back and forward buttons restore the scroll position of each folder', { timeout: 30_000 }, async (t) => {
  const names = Array.from({ length: 90 }, (_, index) => `file ${index + 10}.txt`);
  const { page, inbox } = await openShare(t, {}, names);
  await mkdir(join(inbox, 'zz'));
  for (const name of names.slice(0, 80)) await writeFile(join(inbox, 'zz', name), name);
  const isAt = (position: number) => until(async () => (await page.evaluate('scrollY')) === position);
  await page.reload();
  await page.getByText('91 items').waitFor();
  await page.evaluate('scrollTo(0, 900)');
  await page.evaluate("location.hash = '#/zz'");
  await page.getByText('80 items').waitFor();
  await page.evaluate('scrollTo(0, 500)');
  await page.goBack();
  await page.getByText('91 items').waitFor();
  await isAt(900);
  await page.goForward();
  await page.getByText('80 items').waitFor();
  await isAt(500);
});

test('a share page works in a browser that blocks storage, and dark mode can be selected', async (t) => {
  const { page, share } = await openShare(t, {}, ['plan.txt']);
  await page.addInitScript(`for (const memory of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, memory, { get() { throw new DOMException('denied', 'SecurityError'); } })`);
  await page.goto(share.viewUrl);
  await page.getByRole('link', { name: /^plan.txt/ }).waitFor();
  await page.getByLabel('Appearance').selectOption('dark');
  await page.locator('html[data-appearance=dark]').waitFor();
});
