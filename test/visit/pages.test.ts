import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import sharp from 'sharp';
import { isInstalled } from '../parts/is-installed.ts';
import { samplePdf, samplePhoto, sampleText } from '../parts/sample-documents.ts';
import { startPostern, temporaryFolder } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

/** Publishes sample documents. @returns a function that sends a request to the share */
async function shareDocuments(t: TestContext, over: object = {}) {
  const postern = await startPostern(t);
  for (const [name, bytes] of [
    ['paper.pdf', await samplePdf()],
    ['paper.txt', await samplePdf()],
    ['photo.jpg', await samplePhoto()],
    ['words.txt', Buffer.from(sampleText)],
    ['damaged.pdf', Buffer.from('%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n')],
  ] as const)
    await writeFile(join(postern.files, name), bytes);
  const { base } = await createShare(postern, over);
  return (path: string, method = 'GET', headers: Record<string, string> = {}) => sendPath(postern, base + path, { method, headers });
}

const copyProtected = { copyProtect: true };
const watermarked = { waterMarkText: 'For {ip}' };

test('a visitor sees the pages of a PDF as pictures, rotated and cropped as in other programs', async (t) => {
  const send = await shareDocuments(t);
  const { json } = await send('/pages/paper.pdf');
  assert.deepEqual(json, {
    pages: [
      { number: 1, width: 400, height: 600 },
      { number: 2, width: 600, height: 400 },
      { number: 3, width: 200, height: 100 },
    ],
    totalCount: 3,
  });
  for (const [number, width, height] of [
    [1, 200, 300],
    [2, 300, 200],
    [3, 400, 200],
  ]) {
    const page = await send(`/page/paper.pdf?number=${number}&width=${width}`);
    assert.deepEqual([page.status, page.headers['content-type'], page.headers.etag], [200, 'image/png', undefined]);
    const picture = await sharp(page.bytes).metadata();
    assert.deepEqual([picture.width, picture.height], [width, height], `page ${number}`);
  }
});

test('a visitor sees an image upright and without metadata, and the pages of a PDF whatever its name', async (t) => {
  const send = await shareDocuments(t);
  assert.deepEqual((await send('/pages/photo.jpg')).json.pages, [{ number: 1, width: 400, height: 600 }]);
  const picture = await sharp((await send('/page/photo.jpg?width=200')).bytes).metadata();
  assert.deepEqual([picture.width, picture.height, picture.exif, picture.orientation], [200, 300, undefined, undefined]);
  assert.equal((await send('/pages/paper.txt')).json.totalCount, 3);
});

test('a thumbnail shows the first page, and its longer side has the requested size', async (t) => {
  const send = await shareDocuments(t);
  for (const name of ['paper.pdf', 'photo.jpg']) {
    const { width, height } = await sharp((await send(`/thumbnail/${name}?size=120`)).bytes).metadata();
    assert.deepEqual([width, height], [80, 120], name);
  }
});

test('a page that a document does not have, and a file without pages, are refused', async (t) => {
  const send = await shareDocuments(t);
  const resultOf = async (path: string) => {
    const { status, json } = await send(path);
    return `${status} ${json?.code}`;
  };
  assert.equal(await resultOf('/page/paper.pdf?number=4'), '404 pageAbsent');
  assert.equal(await resultOf('/page/photo.jpg?number=2'), '404 pageAbsent');
  assert.equal(await resultOf('/page/none.pdf'), '404 itemAbsent');
  for (const route of ['pages', 'page', 'thumbnail']) {
    assert.equal(await resultOf(`/${route}/words.txt`), '415 hasNoPages');
    assert.equal(await resultOf(`/${route}/damaged.pdf`), '415 hasNoPages');
  }
  for (const query of ['number=0', 'width=15', 'width=4097', 'size=2', 'name=x'])
    assert.equal((await send(`/page/paper.pdf?${query}`)).status, 400, query);
});

test('a visitor who may download but not view sees no pages', async (t) => {
  const send = await shareDocuments(t, { canView: false });
  for (const route of ['pages', 'page', 'thumbnail']) assert.equal((await send(`/${route}/paper.pdf`)).json.code, 'permissionOff');
});

/** Returns how many of a thousand pixels of two pictures differ. */
async function difference(one: Buffer, other: Buffer): Promise<number> {
  const [a, b] = await Promise.all([one, other].map((bytes) => sharp(bytes).greyscale().raw().toBuffer()));
  assert.equal(a?.length, b?.length);
  const count = a?.reduce((sum, value, index) => sum + Number(Math.abs(value - (b?.[index] ?? 0)) > 16), 0) ?? 0;
  return (count * 1000) / (a?.length ?? 1);
}

for (const [what, protection] of [
  ['copy protection', copyProtected],
  ['a watermark', watermarked],
] as const)
  test(`with ${what}, every page and thumbnail that a visitor sees is marked`, async (t) => {
    const [plain, send] = [await shareDocuments(t), await shareDocuments(t, protection)];
    for (const path of ['/page/paper.pdf?number=1&width=400', '/page/paper.pdf?number=2&width=600', '/page/photo.jpg?width=400'])
      assert.ok((await difference((await plain(path)).bytes, (await send(path)).bytes)) > 5, path);
    const path = '/thumbnail/photo.jpg?size=256';
    assert.ok((await difference((await plain(path)).bytes, (await send(path)).bytes)) > 5, path);
  });

test('with copy protection, no route sends the original bytes of a document', async (t) => {
  const send = await shareDocuments(t, copyProtected);
  const originals = [await samplePdf(), await samplePhoto()];
  for (const name of ['paper.pdf', 'paper.txt', 'photo.jpg', 'words.txt', 'damaged.pdf'])
    for (const route of ['view', 'file', 'zip', 'page', 'pages', 'page-text', 'thumbnail'])
      for (const [method, headers] of [
        ['GET', {}],
        ['HEAD', {}],
        ['GET', { range: 'bytes=0-9' }],
        ['GET', { range: 'bytes=0-9', 'if-range': '"x"' }],
        ['GET', { 'if-none-match': '*' }],
        ['GET', { 'if-match': '*' }],
      ] as const) {
        const path = route === 'zip' ? `/zip?name=${name}` : `/${route}/${name}`;
        const { status, bytes, headers: answered } = await send(path, method, headers);
        const what = `${method} ${path} ${JSON.stringify(headers)}: ${status}`;
        assert.ok(!bytes.includes(sampleText) && !bytes.includes('%PDF'), what);
        assert.ok(!originals.some((original) => bytes.includes(original.subarray(0, 300))), what);
        assert.ok(status !== 206 && status !== 304 && answered.etag === undefined, what);
        assert.equal(answered['cache-control'], 'private, no-store', what);
        if (route === 'view' || route === 'file' || route === 'zip') assert.equal(status, 403, what);
      }
});

test('an archive that began before its share was protected cannot be resumed with the originals', async (t) => {
  const postern = await startPostern(t);
  const original = await samplePdf();
  await writeFile(join(postern.files, 'paper.pdf'), original);
  for (const protection of [copyProtected, watermarked]) {
    const { base, id } = await createShare(postern);
    const first = await sendPath(postern, `${base}/zip`);
    assert.ok(first.status === 200 && first.headers.etag !== undefined && first.bytes.includes(original));
    await postern.call('share/update', { ...(await postern.call('share/get', { id })), ...protection });
    for (const headers of [{ range: 'bytes=10-', 'if-range': first.headers.etag }, { 'if-none-match': first.headers.etag }]) {
      const { status, bytes, headers: answered } = await sendPath(postern, `${base}/zip`, { headers });
      assert.equal(status, protection === copyProtected ? 403 : 200);
      assert.ok(!bytes.includes(original) && answered.etag === undefined);
    }
  }
});

test('with a watermark, a PDF is downloaded and viewed as a new, valid PDF with the mark and without attachments', async (t) => {
  const send = await shareDocuments(t, watermarked);
  const folder = await temporaryFolder(t);
  for (const route of ['file', 'view']) {
    const { status, headers, bytes } = await send(`/${route}/paper.pdf`, 'GET', { range: 'bytes=0-9' });
    assert.deepEqual(
      [status, headers['content-type'], headers.etag, headers['accept-ranges']],
      [200, 'application/pdf', undefined, undefined],
    );
    assert.match(headers['content-disposition'] ?? '', route === 'file' ? /^attachment; filename=/ : /^inline/);
    assert.equal(Number(headers['content-length']), bytes.length);
    assert.ok(bytes.subarray(0, 5).equals(Buffer.from('%PDF-')) && !bytes.includes('EmbeddedFile') && !bytes.includes('attached.txt'));
    writeFileSync(join(folder, `${route}.pdf`), bytes);
  }
  const head = await send('/file/paper.pdf', 'HEAD');
  assert.deepEqual([head.status, head.headers['content-type'], head.headers.etag], [200, 'application/pdf', undefined]);
  assert.deepEqual((await send('/file/damaged.pdf')).json.code, 'cannotBeMarked');
  assert.deepEqual((await send('/file/words.txt')).json.code, 'cannotBeMarked');
  if (!isInstalled('qpdf')) return t.skip('qpdf is missing, so the file was not checked by another program');
  for (const route of ['file', 'view']) assert.equal(spawnSync('qpdf', ['--check', join(folder, `${route}.pdf`)]).status, 0);
});

test('with a watermark, an image is downloaded in its own format, with the mark and without metadata', async (t) => {
  const [plain, send] = [await shareDocuments(t), await shareDocuments(t, watermarked)];
  const { status, headers, bytes } = await send('/file/photo.jpg');
  const { format, width, height, exif } = await sharp(bytes).metadata();
  assert.deepEqual([status, headers['content-type'], format, width, height, exif], [200, 'image/jpeg', 'jpeg', 400, 600, undefined]);
  assert.ok((await difference((await plain('/page/photo.jpg?width=400')).bytes, bytes)) > 5);
});

test('the text of a page can be read without copy protection and watermark, or with copyProtectText', async (t) => {
  const send = await shareDocuments(t);
  const plain = await send('/page-text/paper.pdf?number=1');
  assert.deepEqual([plain.status, plain.headers['content-type'], plain.headers.etag], [200, 'text/plain; charset=utf-8', undefined]);
  assert.match(plain.bytes.toString(), /\w/);
  assert.equal((await send('/page-text/paper.pdf?number=9')).json.code, 'pageAbsent');
  assert.equal((await send('/page-text/photo.jpg')).bytes.toString(), '');
  assert.equal((await send('/page-text/words.txt')).json.code, 'hasNoPages');
  for (const protection of [copyProtected, watermarked]) {
    const refuse = await shareDocuments(t, protection);
    assert.equal((await refuse('/page-text/paper.pdf')).json.code, 'copyProtected');
    assert.equal((await refuse('/visit')).json.share.pageText, false);
    const permit = await shareDocuments(t, { ...protection, copyProtectText: true });
    assert.equal((await permit('/visit')).json.share.pageText, true);
    assert.equal((await permit('/page-text/paper.pdf?number=1')).bytes.toString(), plain.bytes.toString());
    assert.equal((await permit('/page-text/words.txt')).json.code, 'cannotBeMarked');
  }
});
