import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PDFDocument } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { isInstalled } from '../parts/is-installed.ts';
import { samplePdf, samplePhoto, sampleText } from '../parts/sample-documents.ts';
import { zipContents } from '../parts/zip-contents.ts';
import { until } from '../ports/until.ts';
import { startPostern, temporaryFolder } from '../start.ts';
import { changeShare, createShare, sendPath } from './visiting.ts';

const watermarked = { waterMarkText: 'For {ip}' };
const damagedPdf = '%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n';

/** Returns a PDF that takes a while to mark. */
async function longPdf(pages: number): Promise<Buffer> {
  const document = await PDFDocument.create();
  for (let index = 0; index < pages; index += 1) document.addPage();
  return Buffer.from(await document.save());
}

/** Publishes a folder of sample documents with a watermark. */
async function shareFolder(t: TestContext, files: Readonly<Record<string, Buffer | string>>, over: object = {}) {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'box/inner'), { recursive: true });
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(postern.files, 'box', name), bytes);
  const share = await createShare(postern, { path: '/box', ...watermarked, ...over });
  return { postern, share, send: (path: string, method = 'GET') => sendPath(postern, share.base + path, { method }) };
}

for (const copyProtect of [false, true])
  test(`with a watermark ${copyProtect ? 'and' : 'and without'} copy protection, an archive contains the marked files and a list of the files left out`, async (t) => {
    const files = {
      'paper.pdf': await samplePdf(),
      'inner/photo.jpg': await samplePhoto(),
      'words.txt': sampleText,
      'inner/damaged.pdf': damagedPdf,
      empty: '',
    };
    const { send } = await shareFolder(t, files, { copyProtect });
    const answer = await send('/zip');
    assert.deepEqual([answer.status, answer.headers.etag, answer.headers['accept-ranges']], [200, undefined, undefined]);
    const contents = await zipContents(answer.bytes);
    assert.deepEqual(Object.keys(contents).sort(), ['Files left out.txt', 'inner/', 'inner/photo.jpg', 'paper.pdf']);
    const note = contents['Files left out.txt']?.toString() ?? '';
    for (const name of ['words.txt', 'inner/damaged.pdf', 'empty']) assert.ok(note.includes(`${name}\r\n`), name);
    assert.ok(!note.includes('paper.pdf'));

    const [pdf, photo] = [contents['paper.pdf'] ?? Buffer.alloc(0), contents['inner/photo.jpg'] ?? Buffer.alloc(0)];
    assert.ok(pdf.subarray(0, 5).equals(Buffer.from('%PDF-')) && !pdf.includes('EmbeddedFile') && !answer.bytes.includes(sampleText));
    const { width, height, exif } = await sharp(photo).metadata();
    assert.deepEqual([width, height, exif], [400, 600, undefined]);
    assert.ok(!photo.equals(await samplePhoto()));
    if (!isInstalled('qpdf')) return;
    const path = join(await temporaryFolder(t), 'paper.pdf');
    await writeFile(path, pdf);
    assert.equal(spawnSync('qpdf', ['--check', path]).status, 0);
  });

test('an archive whose files can all be marked contains no list of files left out, and an empty folder is still archived', async (t) => {
  const { send } = await shareFolder(t, { 'paper.pdf': await samplePdf() });
  assert.deepEqual(Object.keys(await zipContents((await send('/zip')).bytes)).sort(), ['inner/', 'paper.pdf']);
  assert.deepEqual(Object.keys(await zipContents((await send('/zip?name=inner')).bytes)), ['inner/']);
});

test('an archive without a file that can be marked is refused, before anything is sent', async (t) => {
  const { send } = await shareFolder(t, { 'words.txt': sampleText, 'inner/more.txt': sampleText });
  for (const path of ['/zip', '/zip/inner', '/zip?name=words.txt']) {
    const { status, json } = await send(path);
    assert.deepEqual([status, json.code], [403, 'cannotBeMarked'], path);
    assert.equal((await send(path, 'HEAD')).status, 403);
  }
});

test('the list of the files that are left out does not take the name of another file', async (t) => {
  const { send } = await shareFolder(t, { 'Files left out.txt': await samplePdf(), 'words.txt': sampleText });
  const contents = await zipContents((await send('/zip')).bytes);
  assert.deepEqual(Object.keys(contents).sort(), ['Files left out (Postern).txt', 'Files left out.txt', 'inner/']);
});

test('an archive is cut when the text of the watermark changes', async (t) => {
  const slowPdf = await longPdf(200);
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}.pdf`, slowPdf]));
  const { postern, share, send } = await shareFolder(t, files);
  const cut = assert.rejects(send('/zip'));
  const begun = postern.ports.store.read.selectFrom('audit').select('id').where('action', '=', 'downloadFolder');
  await until(async () => (await begun.executeTakeFirst()) !== undefined);
  await changeShare(postern, share.id, { waterMarkText: 'Draft {ip}' });
  await cut;
});
