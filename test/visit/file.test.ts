import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { ItemChanged, StorageUnavailable } from '#ports/storage-errors.ts';
import { atEnd } from '../parts/at-end.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { startPostern } from '../start.ts';
import { createShare, type RawResponse, sendPath } from './visiting.ts';

const digits = '0123456789'.repeat(100);

async function shareDigits(t: TestContext) {
  const postern = await startPostern(t);
  await writeFile(join(postern.files, 'digits.txt'), digits);
  const { base } = await createShare(postern);
  const path = `${base}/file/digits.txt`;
  const get = (headers: Record<string, string> = {}, method = 'GET') => sendPath(postern, path, { headers, method });
  return { postern, base, get, file: join(postern.files, 'digits.txt') };
}

/** Returns the parts of a multipart/byteranges response. */
function parts({ headers, text }: RawResponse) {
  const boundary = /boundary="?([^";]+)"?/.exec(headers['content-type'] ?? '')?.[1];
  assert.ok(boundary);
  assert.ok(text.trimEnd().endsWith(`--${boundary}--`));
  return text
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [head = '', ...body] = part.split('\r\n\r\n');
      return { range: /content-range: (.*)/i.exec(head)?.[1], body: body.join('\r\n\r\n').replace(/\r\n$/, '') };
    });
}

test('a file is sent as an attachment with its length, ETag, modification time and media type', async (t) => {
  const { get, file } = await shareDigits(t);
  await utimes(file, 1_700_000_000, 1_700_000_000);
  const answer = await get();
  assert.equal(answer.status, 200);
  assert.equal(answer.text, digits);
  assert.equal(answer.headers['content-length'], '1000');
  assert.match(answer.headers['content-disposition'] ?? '', /^attachment; filename="?digits\.txt"?$/);
  assert.match(answer.headers['content-type'] ?? '', /^text\/plain/);
  assert.match(answer.headers.etag ?? '', /^"[^"]+"$/);
  assert.equal(answer.headers['last-modified'], 'Tue, 14 Nov 2023 22:13:20 GMT');
  assert.equal(answer.headers['accept-ranges'], 'bytes');
});

test('a HEAD request for a file gets the same headers as GET, without the content', async (t) => {
  const { get } = await shareDigits(t);
  const [head, full] = [await get({}, 'HEAD'), await get()];
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
  for (const name of [
    'content-length',
    'content-disposition',
    'content-type',
    'etag',
    'last-modified',
    'accept-ranges',
    'content-security-policy',
    'cache-control',
  ])
    assert.equal(head.headers[name], full.headers[name], name);
});

test('an empty file is sent with length 0, and a range of it gets 416', async (t) => {
  const { postern, base } = await shareDigits(t);
  await writeFile(join(postern.files, 'empty'), '');
  const answer = await sendPath(postern, `${base}/file/empty`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-length'], '0');
  assert.equal((await sendPath(postern, `${base}/file/empty`, { headers: { range: 'bytes=0-' } })).status, 416);
});

test('a file of any size is sent unchanged, in full and as a range', async (t) => {
  const { postern, base } = await shareDigits(t);
  for (const size of [1, 256, 16_384, 16_385, 600_000]) {
    const bytes = Buffer.from(Array.from({ length: size }, (_, index) => (255 - index) & 255));
    await writeFile(join(postern.files, 'every.bin'), bytes);
    const full = await sendPath(postern, `${base}/file/every.bin`);
    assert.ok(full.bytes.equals(bytes), `${size}`);
    const part = await sendPath(postern, `${base}/file/every.bin`, { headers: { range: `bytes=0-${size >> 1}` } });
    assert.ok(part.bytes.equals(bytes.subarray(0, (size >> 1) + 1)), `${size}`);
  }
});

test('Content-Disposition contains the complete file name, with any characters', async (t) => {
  const { postern, base } = await shareDigits(t);
  for (const name of [
    'naïve.txt',
    '€ rates.txt',
    '"quoted".txt',
    'semi;colon.txt',
    '100%.txt',
    'a%20b.txt',
    '🗂.txt',
    "it's (1)*.txt",
    'comma, name.txt',
    'noending',
    ' lead.txt',
    '.hidden',
    '日本語.txt',
    'x'.repeat(250),
  ]) {
    await writeFile(join(postern.files, name), 'x');
    const answer = await sendPath(postern, `${base}/file/${encodeURIComponent(name)}`);
    const disposition = answer.headers['content-disposition'] ?? '';
    assert.equal(answer.status, 200, name);
    assert.match(disposition, /^attachment;/, name);
    // RFC 6266, 4.3: a client prefers filename* if both are present.
    const star = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
    const quoted = /filename="((?:[^"\\]|\\.)*)"/.exec(disposition)?.[1]?.replace(/\\(.)/g, '$1');
    const token = /filename=([^";\s]+)/.exec(disposition)?.[1];
    assert.equal(star === undefined ? (quoted ?? token) : decodeURIComponent(star), name, disposition);
    assert.match(disposition, /^[\x20-\x7e]*$/, name);
    if (star !== undefined) assert.match(star, /^[A-Za-z0-9!#$&+.^_`|~%-]+$/, 'RFC 8187: attr-char');
  }
});

test('a request for one range of a file gets 206 with exactly the bytes of the range', async (t) => {
  const { get } = await shareDigits(t);
  for (const [range, expected, contentRange] of [
    ['bytes=0-3', '0123', 'bytes 0-3/1000'],
    ['bytes=998-', '89', 'bytes 998-999/1000'],
    ['bytes=-3', '789', 'bytes 997-999/1000'],
    ['bytes=995-5000', '56789', 'bytes 995-999/1000'],
    ['BYTES=1-2', '12', 'bytes 1-2/1000'],
  ] as const) {
    const answer = await get({ range });
    assert.equal(answer.status, 206, range);
    assert.equal(answer.text, expected, range);
    assert.equal(answer.headers['content-range'], contentRange);
    assert.equal(answer.headers['content-length'], String(expected.length));
  }
});

test('a suffix range longer than the file returns the entire file', async (t) => {
  const { get } = await shareDigits(t);
  // RFC 9110, 14.1.2: if the representation is shorter than the suffix-length, the entire representation is used.
  const answer = await get({ range: 'bytes=-5000' });
  assert.equal(answer.status, 206);
  assert.equal(answer.text, digits);
  assert.equal(answer.headers['content-range'], 'bytes 0-999/1000');
});

test('several ranges of a file are sent as multipart/byteranges', async (t) => {
  const { get } = await shareDigits(t);
  const answer = await get({ range: 'bytes=0-1, 500-503, -1' });
  assert.equal(answer.status, 206);
  assert.match(answer.headers['content-type'] ?? '', /^multipart\/byteranges;/);
  assert.equal(answer.headers['content-range'], undefined);
  assert.equal(answer.headers['content-length'], String(answer.bytes.length));
  assert.deepEqual(parts(answer), [
    { range: 'bytes 0-1/1000', body: '01' },
    { range: 'bytes 500-503/1000', body: '0123' },
    { range: 'bytes 999-999/1000', body: '9' },
  ]);
  const half = await get({ range: 'bytes=0-1, 5000-' });
  assert.equal(half.status, 206);
  assert.match(half.text, /01/);
});

test('a range outside the file gets 416 with the length of the file', async (t) => {
  const { get } = await shareDigits(t);
  for (const range of ['bytes=1000-', 'bytes=5000-6000', 'bytes=-0']) {
    const answer = await get({ range });
    assert.equal(answer.status, 416, range);
    assert.equal(answer.headers['content-range'], 'bytes */1000');
    assert.equal(answer.json.code, 'rangeUnsatisfiable');
  }
});

test('an invalid range, or a range in a HEAD request, is ignored', async (t) => {
  const { get } = await shareDigits(t);
  for (const range of ['bytes=', 'bytes=a-b', 'lines=0-1', 'bytes', '0-1', 'bytes=5-2', 'bytes=0-1,5-2']) {
    const answer = await get({ range });
    assert.equal(answer.status, 200, range);
    assert.equal(answer.bytes.length, 1000);
  }
  const head = await get({ range: 'bytes=0-1' }, 'HEAD');
  assert.equal(head.status, 200);
  assert.equal(head.headers['content-length'], '1000');
});

test('overlapping ranges of a file are sent as one range, and a request for more than 64 of them gets the entire file', async (t) => {
  const { get } = await shareDigits(t);
  const ranges = (count: number) => Array.from({ length: count }, (_, index) => `${index}-`).join(',');
  for (const count of [2, 64]) {
    const answer = await get({ range: `bytes=${ranges(count)}` });
    assert.deepEqual([answer.status, answer.headers['content-range'], answer.text], [206, 'bytes 0-999/1000', digits]);
  }
  const manyAnswer = await get({ range: `bytes=${ranges(500)}` });
  assert.deepEqual([manyAnswer.status, manyAnswer.text], [200, digits]);
});

test('a Range header with more than 64 ranges is ignored, and the entire file is sent', async (t) => {
  const { get } = await shareDigits(t);
  const answers = await Promise.all(
    [64, 65, 5000].map((count) => get({ range: `bytes=${Array.from({ length: count }, () => '-1').join(',')}` })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [206, 200, 200],
  );
});

test('a range is sent only if If-Range matches the current file', async (t) => {
  const { get, file } = await shareDigits(t);
  await utimes(file, 1_700_000_000, 1_700_000_000);
  const { etag = '', 'last-modified': modified = '' } = (await get()).headers;
  const status = async (validator: string) => (await get({ range: 'bytes=0-1', 'if-range': validator })).status;
  assert.equal(await status(etag), 206);
  assert.equal(await status(`W/${etag}`), 200);
  assert.equal(await status('"other"'), 200);
  assert.equal(await status(modified), 206);
  assert.equal(await status('Tue, 14 Nov 2023 22:13:19 GMT'), 200);
  assert.equal((await get({ range: 'bytes=5000-', 'if-range': '"other"' })).status, 200);
});

test('a request for an unchanged file gets 304, If-None-Match takes precedence over the date, and another If-Match gets 412', async (t) => {
  const { get } = await shareDigits(t);
  const { etag = '', 'last-modified': modified = '' } = (await get()).headers;
  for (const headers of [
    { 'if-none-match': etag },
    { 'if-none-match': `"x", W/${etag}` },
    { 'if-none-match': '*' },
    { 'if-modified-since': modified },
  ])
    for (const method of ['GET', 'HEAD']) {
      const answer = await get(headers, method);
      assert.equal(answer.status, 304, JSON.stringify(headers));
      assert.equal(answer.text, '');
      assert.equal(answer.headers.etag, etag);
    }
  assert.equal((await get({ 'if-none-match': '"x"', 'if-modified-since': modified })).status, 200);
  assert.equal((await get({ 'if-none-match': etag, range: 'bytes=0-1' })).status, 304);
  assert.equal((await get({ 'if-match': '"x"' })).status, 412);
  assert.equal((await get({ 'if-match': etag })).status, 200);
});

test('the ETag changes with the content, even if the modification time and the size stay equal', async (t) => {
  const { get, file, postern } = await shareDigits(t);
  await utimes(file, 1_700_000_000, 1_700_000_000);
  const before = (await get()).headers.etag;
  await writeFile(file, digits.replaceAll('0', 'x'));
  await utimes(file, 1_700_000_000, 1_700_000_000);
  const changedEtag = (await get()).headers.etag;
  assert.notEqual(changedEtag, before);
  await writeFile(join(postern.files, 'other'), digits);
  await rename(join(postern.files, 'other'), file);
  await utimes(file, 1_700_000_000, 1_700_000_000);
  assert.notEqual((await get()).headers.etag, changedEtag);
});

test('a folder cannot be downloaded as a file', async (t) => {
  const { postern, base } = await shareDigits(t);
  assert.equal((await sendPath(postern, `${base}/file`)).status, 404);
});

for (const [what, failingMethod, cause] of [
  ['a disk error while a file is read', 'file.read', new StorageUnavailable('EIO')],
  ['a file that is truncated before it is read', 'file.read', new ItemChanged('truncated')],
  ['a file that changes while it is opened', 'storage.open', new ItemChanged('changed')],
] as const)
  test(`${what} gets 503`, async (t) => {
    const postern = await startWithStorages(t, (method) => {
      if (method === failingMethod) throw cause;
    });
    await writeFile(join(postern.files, 'a.bin'), 'x'.repeat(200_000));
    const { base } = await createShare(postern);
    const answer = await sendPath(postern, `${base}/file/a.bin`);
    assert.deepEqual([answer.status, answer.json.code], [503, 'storageAway']);
  });

test('while the process has no free file descriptor, a request for a file gets 503 with Retry-After', async (t) => {
  const postern = await startWithStorages(t, (method) => {
    if (method === 'storage.open') throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  });
  await writeFile(join(postern.files, 'a.bin'), 'x');
  const { base } = await createShare(postern);
  const { status, json, headers } = await sendPath(postern, `${base}/file/a.bin`);
  assert.deepEqual([status, json.code, headers['retry-after']], [503, 'descriptorsUsedUp', '5']);
});

test('a response never contains bytes that the file does not have, even if the file is truncated in the meantime', {
  timeout: 20_000,
}, async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const file = join(postern.files, 'cut.txt');
  writeFileSync(file, 'x'.repeat(100_000));
  const cutter = new Worker(
    `const { truncateSync, writeFileSync } = require('node:fs'); const { workerData } = require('node:worker_threads');
    for (;;) { truncateSync(workerData, 10); writeFileSync(workerData, 'x'.repeat(100000)); }`,
    { eval: true, workerData: file },
  );
  atEnd(t, () => cutter.terminate());
  for (let number = 0; number < 300; number += 1) {
    const answer = await sendPath(postern, `${base}/file/cut.txt`).catch(() => null); // an interrupted response is allowed
    if (answer?.status === 200) assert.doesNotMatch(answer.text, /\0/);
  }
});
