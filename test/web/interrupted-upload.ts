import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openWindow } from '../parts/chromium.ts';
import { newShare, startPostern, temporaryFolder } from '../start.ts';
import { startResettingProxy } from './resetting-proxy.ts';

const block = 1 << 20; // bytes

/** Writes a file in which each MiB differs. @returns its path */
async function writeLargeFile(t: TestContext, name: string, size: number): Promise<string> {
  const path = join(await temporaryFolder(t), name);
  const file = await open(path, 'w');
  for (let position = 0; position < size; position += block) await file.write(`block ${position}`, position);
  await file.truncate(size);
  await file.close();
  return path;
}

async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest('hex');
}

/**
 * Uploads a large file in a window as wide as a phone, cuts the connection, and reloads the page. Checks that the file is stored once
 * and complete.
 * @param size bytes of the file
 * @param cuts how often the connection is cut
 */
export async function checkInterruptedUpload(t: TestContext, size: number, cuts: number): Promise<void> {
  const proxy = await startResettingProxy(t);
  const postern = await startPostern(t, { environment: { POSTERN_PUBLIC_URL: `http://localhost:${proxy.port}` } });
  proxy.forwardTo(postern.apiUrl);
  const share = await postern.call('share/add', newShare());
  const path = await writeLargeFile(t, 'film.mp4', size);
  const { window } = await openWindow(t, { width: 390, dark: false });
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  const cutAfter = Math.floor(size / (2 * cuts + 2));
  proxy.resetAfter(cutAfter, cuts);
  await page.getByLabel('Upload', { exact: true }).setInputFiles(path);
  await page.getByText('The upload continues by itself').waitFor();

  page.once('dialog', (dialog) => void dialog.accept()); // the page asks before it is left during an upload
  await page.reload();
  await page.getByRole('heading', { name: 'Unfinished uploads' }).waitFor();
  await page.getByLabel('Choose the file').setInputFiles(path);
  await page.getByText('All files uploaded').waitFor({ timeout: 240_000 });
  assert.equal(proxy.resetsLeft(), 0);
  assert.equal(await hashOfFile(join(postern.files, 'film.mp4')), await hashOfFile(path));
  const { list: entries } = await postern.call('audit/search', { action: 'upload' });
  assert.deepEqual(
    entries.map(({ outcome, bytes }: { outcome: string; bytes: number }) => [outcome, bytes]),
    [['done', size]],
  );
  await page.reload();
  await page.getByRole('link', { name: 'Download film.mp4' }).waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Unfinished uploads' }).count(), 0);
}
