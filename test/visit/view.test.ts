import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startPostern } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const pdf = Buffer.from('%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n');
const wav = Buffer.concat([Buffer.from('RIFF'), Buffer.from([36, 0, 0, 0]), Buffer.from('WAVEfmt '), Buffer.alloc(28)]);
const mp4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom'),
  Buffer.from([0, 0, 2, 0]),
  Buffer.from('isomiso2'),
  Buffer.alloc(64),
]);
const zip = Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(60)]);
const elf = Buffer.concat([Buffer.from([0x7f]), Buffer.from('ELF'), Buffer.alloc(60)]);

async function startWithView(t: TestContext, over: object = {}) {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, over);
  return {
    postern,
    base,
    async view(name: string, bytes: string | Uint8Array, method = 'GET') {
      await writeFile(join(postern.files, name), bytes);
      return sendPath(postern, `${base}/view/${encodeURIComponent(name)}`, { method });
    },
  };
}

test('images, PDF, audio and video get the content type of their bytes, not of their name', async (t) => {
  const { view } = await startWithView(t);
  for (const [name, bytes, type] of [
    ['a.png', png, /^image\/png/],
    ['looks-like.html', png, /^image\/png/],
    ['noending', pdf, /^application\/pdf/],
    ['a.svg', pdf, /^application\/pdf/],
    ['a.txt', wav, /^audio\//],
    ['a.js', mp4, /^video\/mp4/],
  ] as const) {
    const answer = await view(name, bytes);
    assert.equal(answer.status, 200, name);
    assert.match(answer.headers['content-type'] ?? '', type, name);
    assert.deepEqual(answer.bytes, Buffer.from(bytes), name);
  }
});

test('text of any kind, including HTML, SVG and scripts, is shown as plain text', async (t) => {
  const { view } = await startWithView(t);
  for (const [name, text] of [
    ['a.html', '<!doctype html><script>alert(1)</script>'],
    ['a.png', '<html><body onload=alert(1)>'],
    ['a.svg', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['a.xml', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['xhtml.xhtml', '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>'],
    ['a.js', 'alert(1)'],
    ['a.css', 'body{}'],
    ['a.json', '{"a":1}'],
    ['a.pdf', 'plain words'],
    ['ü.txt', 'Füße 日本'],
    ['empty', ''],
  ] as const) {
    const answer = await view(name, text);
    assert.equal(answer.status, 200, name);
    assert.match(answer.headers['content-type'] ?? '', /^text\/plain(;|$)/, name);
    assert.equal(answer.text, text, name);
  }
});

test('text that is not UTF-8 is sent unchanged and with its charset', async (t) => {
  const { view } = await startWithView(t);
  for (const [name, bytes, charset] of [
    ['from windows.csv', Buffer.from('Straße;Café;10', 'latin1'), 'windows-1252'],
    ['with mark.txt', Buffer.from('\ufeffFüße', 'utf16le'), 'utf-16le'],
    ['with the other mark.txt', Buffer.from('\ufeffFüße', 'utf16le').swap16(), 'utf-16be'],
  ] as const) {
    const answer = await view(name, bytes);
    assert.equal(answer.status, 200, name);
    assert.equal(answer.headers['content-type'], `text/plain; charset=${charset}`, name);
    assert.deepEqual(answer.bytes, bytes, name);
  }
});

test('a request to view a file that cannot be viewed gets 415 instead of the content', async (t) => {
  const { view } = await startWithView(t);
  for (const [name, bytes] of [
    ['a.png', zip],
    ['a.txt', elf],
    ['a.pdf', Buffer.from([0, 1, 2, 3, 0, 255, 254])],
  ] as const) {
    const answer = await view(name, bytes);
    assert.equal(answer.status, 415, name);
    assert.equal(answer.json.code, 'cannotBeViewed');
    assert.equal((await view(name, bytes, 'HEAD')).status, 415);
  }
});

test('a viewed file is sent inline, sandboxed, with nosniff and no-store', async (t) => {
  const { view } = await startWithView(t);
  for (const name of ['a.png', 'a.html']) {
    const answer = await view(name, name === 'a.png' ? png : '<script>1</script>');
    assert.match(answer.headers['content-disposition'] ?? '', /^inline/);
    const policy = String(answer.headers['content-security-policy'])
      .split(';')
      .map((part) => part.trim());
    assert.ok(policy.includes('sandbox'), 'sandbox without any exception');
    assert.ok(!policy.some((part) => /^script-src(?!.*'none')/.test(part)));
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.equal(answer.headers['cache-control'], 'private, no-store');
  }
});

test('a view supports HEAD, ranges and conditional requests like a file download', async (t) => {
  const { view, postern, base } = await startWithView(t);
  const head = await view('a.png', png, 'HEAD');
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
  assert.equal(head.headers['content-length'], String(png.length));
  const viewImage = (headers: Record<string, string>) => sendPath(postern, `${base}/view/a.png`, { headers });
  const part = await viewImage({ range: 'bytes=0-3' });
  assert.equal(part.status, 206);
  assert.deepEqual(part.bytes, png.subarray(0, 4));
  assert.equal((await viewImage({ 'if-none-match': head.headers.etag ?? '' })).status, 304);
});

test('a share of one file is viewed at the address without a path', async (t) => {
  const { postern, base } = await startWithView(t, { path: '/welcome.txt', folder: false });
  assert.equal((await sendPath(postern, `${base}/view`)).status, 200);
  assert.equal((await sendPath(postern, `${base}/view/welcome.txt`)).status, 404);
});

test('viewing and downloading are separate permissions', async (t) => {
  const viewOnly = await startWithView(t, { canDownload: false });
  assert.equal((await viewOnly.view('a.png', png)).status, 200);
  assert.equal((await sendPath(viewOnly.postern, `${viewOnly.base}/file/a.png`)).status, 403);
  const downloadOnly = await startWithView(t, { canView: false });
  assert.equal((await downloadOnly.view('a.png', png)).status, 403);
  assert.equal((await sendPath(downloadOnly.postern, `${downloadOnly.base}/file/a.png`)).status, 200);
});
