import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { until } from '../ports/until.ts';
import { startPostern, temporaryFolder } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

const large = 3_000_000; // bytes: in an archive, the checksum of a file of this size follows its content
const [centralSignature, endSignature] = [0x02014b50, 0x06054b50]; // APPNOTE 4.3.12, 4.3.16

async function startWithFiles(t: TestContext) {
  const data = await temporaryFolder(t);
  const postern = await startPostern(t, { data });
  await mkdir(join(postern.files, 'box/inner'), { recursive: true });
  for (const [name, content] of [
    ['b.txt', 'b'.repeat(5000)],
    ['naïve 日本.txt', 'n'],
    ['zero', ''],
    ['inner/a.bin', Buffer.from(Array.from({ length: large }, (_, index) => (index * 7) % 251))],
    ['inner/z.txt', 'the last'],
  ] as const)
    await writeFile(join(postern.files, 'box', name), content);
  const { base } = await createShare(postern, { path: '/box' });
  return { postern, data, base };
}

test('an archive has a length and an ETag, and every range has the bytes of that part of the entire archive', async (t) => {
  const { postern, data, base } = await startWithFiles(t);
  const archive = await sendPath(postern, `${base}/zip`);
  const { etag } = archive.headers;
  assert.equal(archive.headers['content-length'], String(archive.bytes.length));
  assert.equal(archive.headers['accept-ranges'], 'bytes');
  assert.match(etag ?? '', /^"[^"]+"$/);
  const names: string[] = [];
  for await (const entry of (await fromBufferPromise(archive.bytes, { validateEntrySizes: true })).eachEntry()) names.push(entry.fileName);
  assert.deepEqual(names, ['b.txt', 'inner/', 'inner/a.bin', 'inner/z.txt', 'naïve 日本.txt', 'zero']);
  assert.deepEqual((await sendPath(postern, `${base}/zip`)).bytes, archive.bytes);
  await postern.stop();
  // After the restart no checksum is cached: the first range that needs one computes it.
  const restartedPostern = await startPostern(t, { data });
  const size = archive.bytes.length;
  const edges = [0, 1, 40, 5000, 6000, 700_000, large, large + 5200, size - 400, size - 30, size - 1];
  for (const start of [size - 30, ...edges])
    for (const end of [...edges.filter((edge) => edge >= start), size + 5]) {
      const part = await sendPath(restartedPostern, `${base}/zip`, { headers: { range: `bytes=${start}-${end}`, 'if-range': etag ?? '' } });
      const last = Math.min(end, size - 1);
      assert.equal(part.status, 206);
      assert.equal(part.headers['content-range'], `bytes ${start}-${last}/${size}`);
      assert.ok(part.bytes.equals(archive.bytes.subarray(start, last + 1)), `${start}-${end}`);
    }
  const tail = await sendPath(restartedPostern, `${base}/zip`, { headers: { range: 'bytes=-100' } });
  assert.ok(tail.bytes.equals(archive.bytes.subarray(-100)));
});

test('a download of an archive can be resumed at every byte of its central directory, with names of different lengths', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'names'));
  for (const name of ['x'.repeat(200), 'y', 'z'.repeat(100)]) await writeFile(join(postern.files, 'names', name), name);
  const { base } = await createShare(postern, { path: '/names' });
  const archive = await sendPath(postern, `${base}/zip`);
  const firstSignature = Buffer.alloc(4);
  firstSignature.writeUInt32LE(centralSignature);
  for (let start = archive.bytes.indexOf(firstSignature); start < archive.bytes.length; start += 1) {
    const rest = await sendPath(postern, `${base}/zip`, { headers: { range: `bytes=${start}-` } });
    assert.ok(rest.bytes.equals(archive.bytes.subarray(start)), `from byte ${start}`);
  }
});

test('an archive supports conditional requests by ETag', async (t) => {
  const { postern, base } = await startWithFiles(t);
  const head = await sendPath(postern, `${base}/zip`, { method: 'HEAD' });
  const [etag, length] = [head.headers.etag ?? '', Number(head.headers['content-length'])];
  const requestStatus = async (headers: Record<string, string>) => (await sendPath(postern, `${base}/zip`, { headers })).status;
  assert.equal(await requestStatus({ 'if-none-match': etag }), 304);
  assert.equal(await requestStatus({ 'if-match': '"another"' }), 412);
  assert.equal(await requestStatus({ range: `bytes=${length}-` }), 416);
  assert.equal(await requestStatus({ range: 'bytes=0-9', 'if-range': '"another"' }), 200);
  assert.equal(await requestStatus({ range: 'bytes=0-9,20-29' }), 200);
  assert.equal(
    await requestStatus({ 'if-modified-since': new Date(Date.now() + 86_400_000).toUTCString() }),
    200,
    'an archive has no modification time',
  );
});

test('every change in the folder changes the ETag, and If-Range with the old ETag gets the entire new archive', async (t) => {
  const { postern, base } = await startWithFiles(t);
  const box = join(postern.files, 'box');
  const etag = async () => String((await sendPath(postern, `${base}/zip`, { method: 'HEAD' })).headers.etag);
  for (const change of [
    () => appendFile(join(box, 'b.txt'), 'c'),
    () => writeFile(join(box, 'new.txt'), ''),
    () => rm(join(box, 'new.txt')),
    () => utimes(join(box, 'zero'), 1, 1),
    () => mkdir(join(box, 'inner/deeper')),
  ]) {
    const before = await etag();
    await change();
    const after = await etag();
    assert.notEqual(after, before);
    assert.equal((await sendPath(postern, `${base}/zip`, { headers: { range: 'bytes=5-9', 'if-range': before } })).status, 200);
  }
});

test('if a file changes before it is sent in an archive, the download is aborted and recorded as failed', async (t) => {
  const { postern, base } = await startWithFiles(t);
  const box = join(postern.files, 'box');
  await writeFile(join(box, 'a-first.bin'), '');
  await truncate(join(box, 'a-first.bin'), 256 << 20);
  const clientRequest = request(new URL(`${base}/zip`, postern.publicUrl)).end();
  clientRequest.on('error', () => {}); // the response body reports the error, too
  const [response]: IncomingMessage[] = await once(clientRequest, 'response');
  assert.ok(response);
  await once(response, 'readable');
  await writeFile(join(box, 'b.txt'), 'x'.repeat(5000));
  await assert.rejects(async () => {
    for await (const _ of response);
  }, /aborted|reset/i);
  const failedCount = async () => (await postern.call('audit/search', { action: 'downloadFolder', outcome: 'failed' })).totalCount;
  await until(async () => (await failedCount()) === 1);
});

test('range requests of one archive count as one download in the audit log', async (t) => {
  const { postern, base } = await startWithFiles(t);
  for (const range of ['bytes=0-99', 'bytes=100-199', 'bytes=200-']) await sendPath(postern, `${base}/zip`, { headers: { range } });
  assert.equal((await postern.call('audit/search', { action: 'downloadFolder' })).totalCount, 1);
});

test('an archive of a share with digital signatures has no ETag, no length and no ranges', async (t) => {
  const { postern } = await startWithFiles(t);
  const { base } = await createShare(postern, { path: '/box', digitalSignature: true });
  const answer = await sendPath(postern, `${base}/zip`, { headers: { range: 'bytes=0-9' } });
  assert.equal(answer.status, 200);
  assert.deepEqual(
    [answer.headers.etag, answer.headers['accept-ranges'], answer.headers['content-length']],
    [undefined, undefined, undefined],
  );
});

test('an archive of more than 50,000 entries is complete but has no length and no ETag', async (t) => {
  const postern = await startPostern(t);
  mkdirSync(join(postern.files, 'many'));
  for (let number = 0; number <= 50_000; number += 1) writeFileSync(join(postern.files, 'many', `file number ${number}`), '');
  const { base } = await createShare(postern, { path: '/many' });
  const answer = await sendPath(postern, `${base}/zip`);
  assert.equal(answer.headers['content-length'], undefined);
  assert.equal(answer.headers.etag, undefined);
  const archive = await fromBufferPromise(answer.bytes, { validateEntrySizes: true });
  assert.equal(archive.entryCount, 50_001);
  const names = new Set<string>();
  for await (const entry of archive.eachEntry()) names.add(entry.fileName);
  assert.equal(names.size, 50_001);
});

test('if a file grows while it is sent in an archive, the archive is valid and contains as many bytes of the file as it had before', async (t) => {
  const { postern, base } = await startWithFiles(t);
  const log = join(postern.files, 'box/a-log');
  await writeFile(log, '');
  await truncate(log, 64 << 20);
  const clientRequest = request(new URL(`${base}/zip`, postern.publicUrl)).end();
  const [response]: IncomingMessage[] = await once(clientRequest, 'response');
  assert.ok(response);
  const pieces: Buffer[] = [];
  // More bytes than all other files together: the server is now sending this file.
  while (Buffer.concat(pieces).length < 4 << 20) {
    await once(response, 'readable');
    const piece: Buffer | null = response.read();
    if (piece) pieces.push(piece);
  }
  await appendFile(log, 'grown meanwhile'.repeat(100_000));
  for await (const piece of response) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  assert.equal(bytes.length, Number(response.headers['content-length']));
  const archive = await fromBufferPromise(bytes, { validateEntrySizes: true });
  for await (const entry of archive.eachEntry())
    if (entry.fileName === 'a-log') {
      let crc = 0;
      for await (const piece of await archive.openReadStreamPromise(entry)) crc = crc32(piece, crc);
      assert.equal(entry.uncompressedSize, 64 << 20);
      assert.equal(crc, entry.crc32);
    }
});

test('a HEAD request of an archive leaves no file open', async (t) => {
  const { postern } = await startWithFiles(t);
  const { base } = await createShare(postern, { path: '/box', digitalSignature: true });
  await sendPath(postern, `${base}/zip`, { method: 'HEAD' });
  const countDescriptors = () => readdirSync('/proc/self/fd').length;
  const before = countDescriptors();
  for (let time = 0; time < 20; time += 1) await sendPath(postern, `${base}/zip`, { method: 'HEAD' });
  assert.ok(countDescriptors() - before < 10, `${countDescriptors() - before} more descriptors`);
});

test('the checksum of a large file is computed once for all archives that contain it', async (t) => {
  let reads = 0;
  const postern = await startWithStorages(t, (method) => {
    if (method === 'file.read') reads += 1;
  });
  await writeFile(join(postern.files, 'large'), Buffer.alloc(large, 1));
  for (const name of ['a', 'b']) await writeFile(join(postern.files, name), name);
  const { base } = await createShare(postern);
  const readsForEnd = async (names: string) => {
    const before = reads;
    const end = await sendPath(postern, `${base}/zip?${names}`, { headers: { range: 'bytes=-138' } }); // the central directory and its end record
    assert.equal(end.bytes.readUInt32LE(0), centralSignature);
    return reads - before;
  };
  const first = await readsForEnd('name=large&name=a');
  const second = await readsForEnd('name=large&name=b');
  assert.deepEqual([first, second], [2, 1], 'each small file is read, and the large one only for the first archive');
});

test('requests for many small archives do not evict the checksums of another archive', async (t) => {
  let openCount = 0;
  const postern = await startWithStorages(t, (method) => {
    if (method === 'storage.open') openCount += 1;
  });
  await mkdir(join(postern.files, 'many'));
  for (let number = 0; number < 100; number += 1) await writeFile(join(postern.files, 'many', `${number}`), 'a text');
  const [one, other] = [await createShare(postern, { path: '/many' }), await createShare(postern, { path: '/many' })];
  const end = () => sendPath(postern, `${one.base}/zip`, { headers: { range: 'bytes=-5712' } }); // the central directory and its end record
  assert.equal((await end()).status, 206);
  assert.equal(openCount, 100);
  for (let number = 0; number < 100; number += 1)
    assert.equal((await sendPath(postern, `${other.base}/zip?name=${number}`, { method: 'HEAD' })).status, 200);
  assert.equal((await end()).status, 206);
  assert.equal(openCount, 100);
});

test('the last bytes of an archive are sent without reading its files', async (t) => {
  let openCount = 0;
  const postern = await startWithStorages(t, (method) => {
    if (method === 'storage.open') openCount += 1;
  });
  for (const name of ['a', 'b']) await writeFile(join(postern.files, name), name);
  const { base } = await createShare(postern);
  const end = await sendPath(postern, `${base}/zip`, { headers: { range: 'bytes=-22' } });
  assert.equal(end.bytes.readUInt32LE(0), endSignature);
  assert.equal(openCount, 0);
});
