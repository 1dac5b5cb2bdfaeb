import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PDFDocument } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { isInstalled } from '../parts/is-installed.ts';
import { printAndScan, readGrey } from '../parts/leaks.ts';
import { samplePdf } from '../parts/sample-documents.ts';
import { zipContents } from '../parts/zip-contents.ts';
import { createUsersProfile, signIn, startPostern, temporaryFolder } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

const marked = { waterMarkText: '{user}' };
const photo = () =>
  sharp({ create: { width: 1600, height: 1200, channels: 3, background: '#7a6' } })
    .jpeg()
    .toBuffer();

/** Publishes a PDF and an image with a watermark to two visitors. */
async function shareFiles(t: TestContext, over: object = {}) {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'inner'));
  await writeFile(join(postern.files, 'paper.pdf'), await samplePdf());
  await writeFile(join(postern.files, 'inner/photo.jpg'), await photo());
  const profile = await createUsersProfile(postern, ['ann', 'ben']);
  const { base } = await createShare(postern, { authenticationId: profile.id, ...marked, ...over });
  const cookies = { ann: await signIn(postern, base, 'ann'), ben: await signIn(postern, base, 'ben') };
  const fetchAs = async (user: 'ann' | 'ben', path: string) => {
    const response = await sendPath(postern, base + path, { headers: { cookie: cookies[user] } });
    assert.equal(response.status, 200, `${path} ${response.text.slice(0, 200)}`);
    return response.bytes;
  };
  /** Traces a file. @returns who got it, and how */
  const trace = async (file: Buffer) => {
    const { found, page, entries } = await postern.call('audit/trace', { file: file.toString('base64') });
    const visitors = entries.map(
      (entry: { actor: string; action: string; path: string }) => `${entry.actor} ${entry.action} ${entry.path}`,
    );
    return { found, page, visitors };
  };
  return { postern, fetchAs, trace };
}

test('a screenshot of a protected page names the visitor who saw it, and no other', async (t) => {
  const { fetchAs, trace } = await shareFiles(t, { copyProtect: true });
  for (const user of ['ann', 'ben'] as const) {
    const page = await fetchAs(user, '/page/paper.pdf?number=1&width=1200');
    const screenshot = await sharp(page).resize(900).jpeg({ quality: 60 }).toBuffer();
    assert.deepEqual(await trace(screenshot), { found: true, page: 1, visitors: [`${user} view /paper.pdf`] });
  }
});

test('a downloaded PDF names its visitor, as a file and after it was printed and scanned', async (t) => {
  const { fetchAs, trace } = await shareFiles(t);
  const bytes = await fetchAs('ben', '/file/paper.pdf');
  const expected = { found: true, page: 1, visitors: ['ben download /paper.pdf'] };
  assert.deepEqual(await trace(bytes), expected);
  if (!isInstalled('pdftoppm')) return t.diagnostic('printed pages are not traced: pdftoppm is not installed');
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'paper.pdf'), bytes);
  spawnSync('pdftoppm', ['-r', '150', '-gray', '-png', join(folder, 'paper.pdf'), join(folder, 'page')]);
  for (const page of [1, 2]) {
    const drawn = await readGrey(await readFile(join(folder, `page-${page}.png`)));
    assert.deepEqual(await trace(await printAndScan(drawn)), expected, `page ${page}`);
  }
});

test('a downloaded image, and an image and a PDF from an archive, name the visitor and the download', async (t) => {
  const { fetchAs, trace } = await shareFiles(t);
  const image = await sharp(await fetchAs('ann', '/file/inner/photo.jpg'))
    .resize(1000)
    .webp({ quality: 60 })
    .toBuffer();
  assert.deepEqual(await trace(image), { found: true, page: 1, visitors: ['ann download /inner/photo.jpg'] });
  const contents = await zipContents(await fetchAs('ben', '/zip'));
  for (const name of ['paper.pdf', 'inner/photo.jpg'])
    assert.deepEqual(await trace(contents[name] ?? Buffer.alloc(0)), { found: true, page: 1, visitors: ['ben downloadFolder /'] }, name);
});

test('a file without a trace mark names nobody, and a file that is no document is refused', async (t) => {
  const { postern, trace } = await shareFiles(t);
  assert.deepEqual(await trace(await samplePdf()), { found: false, page: null, visitors: [] });
  assert.deepEqual(await trace(await photo()), { found: false, page: null, visitors: [] });
  for (const file of [Buffer.from('only text').toString('base64'), 'no base64!']) {
    const { status, body } = await postern.send('audit/trace', { file });
    assert.deepEqual([status, body.code, body.errors[0].field], [400, 'fieldInvalid', 'file']);
  }
});

test('an admin of another tenant learns nothing about the visitor', async (t) => {
  const { postern, fetchAs } = await shareFiles(t);
  const bytes = await fetchAs('ann', '/file/paper.pdf');
  const { id: tid } = await postern.call('tenant/add', { title: 'Other' });
  const { key } = await postern.call('apikey/add', { name: 'admin', role: 'admin', tid });
  const traced = await postern.call('audit/trace', { file: bytes.toString('base64') }, { key });
  assert.deepEqual([traced.found, traced.entries], [true, []]);
});

test('a page that is long and very narrow is marked without thousands of tiles of a trace mark', async (t) => {
  const { postern, fetchAs } = await shareFiles(t);
  const document = await PDFDocument.create();
  document.addPage([0.05, 14_400]);
  await writeFile(join(postern.files, 'narrow.pdf'), await document.save());
  assert.ok((await fetchAs('ann', '/file/narrow.pdf')).length < 100_000);
});
