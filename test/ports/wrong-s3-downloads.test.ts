import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { ItemArchived, ItemChanged, StorageUnavailable } from '#ports/storage-errors.ts';
import type { FakeResponder } from '../parts/fake-service.ts';
import { fileHeaders, isUnavailable, startFakeS3Storage } from './fake-s3-storage.ts';
import { parsePath, readBytes } from './storage.contract.ts';

const large = 1 << 20; // bytes
const rangeOf = ({ headers }: IncomingMessage) =>
  /^bytes=(\d+)-(\d+)$/
    .exec(headers.range ?? '')
    ?.slice(1)
    .map(Number) ?? [0, 0];
const version = { etag: '"e"', 'last-modified': fileHeaders['last-modified'] };
const partHeaders = (request: IncomingMessage) => ({ ...version, 'content-range': `bytes ${rangeOf(request).join('-')}/${large}` });
/** Answers a request for the beginning of a 1 MiB file as S3 does. @param later answers the other requests */
const fileService =
  (later: FakeResponder): FakeResponder =>
  (request, response, body) => {
    const [start = 0, end = 0] = rangeOf(request);
    if (start > 0) return later(request, response, body);
    const headers = { ...version, 'content-range': `bytes 0-${end}/${large}` };
    response.writeHead(206, headers).end(Buffer.alloc(end + 1));
  };
const wrongContents: readonly (readonly [string, FakeResponder, typeof StorageUnavailable | typeof ItemChanged])[] = [
  ['ignores ranges', (_, response) => response.end(Buffer.alloc(large)), StorageUnavailable],
  ['sends too few bytes', (request, response) => response.writeHead(206, partHeaders(request)).end('01'), StorageUnavailable],
  [
    'sends too many bytes',
    (request, response) => response.writeHead(206, partHeaders(request)).end(Buffer.alloc(large)),
    StorageUnavailable,
  ],
  [
    'sends another version',
    (request, response) => response.writeHead(206, { ...partHeaders(request), etag: '"f"' }).end(Buffer.alloc(large)),
    ItemChanged,
  ],
  [
    'sends another range',
    (request, response) => response.writeHead(206, { ...partHeaders(request), 'content-range': `bytes 0-1/${large}` }).end('01'),
    ItemChanged,
  ],
  ['has replaced the file', (_, response) => response.writeHead(412).end(), ItemChanged],
  ['resets the connection', (_, response) => response.destroy(), StorageUnavailable],
];
for (const [what, later, error] of wrongContents)
  test(`a download from an S3 service that ${what} fails`, async (t) => {
    const { storage } = await startFakeS3Storage(t, fileService(later));
    const openFile = await storage.open(parsePath('/doc'));
    assert.ok(openFile);
    let receivedBytes = 0;
    await assert.rejects(async () => {
      for await (const piece of openFile.read({ start: 0, end: large - 1 })) receivedBytes += piece.length;
    }, error);
    assert.ok(receivedBytes <= large);
  });

test('a download continues at the same position if an S3 service closes the connection', async (t) => {
  const content = randomBytes(large);
  const starts: number[] = [];
  const { storage } = await startFakeS3Storage(t, (request, response) => {
    const [start = 0, end = 0] = rangeOf(request);
    response.writeHead(206, { ...partHeaders(request), 'content-length': end + 1 - start });
    if (start > 0) starts.push(start);
    if (start === 0 || starts.length === 3) return void response.end(content.subarray(start, end + 1));
    response.write(content.subarray(start, start + 100_000), () => response.destroy());
  });
  const openFile = await storage.open(parsePath('/doc'));
  assert.ok(openFile);
  assert.deepEqual(await readBytes(openFile), content);
  assert.equal(starts.length, 3);
});

const wrongStarts: Readonly<Record<string, FakeResponder>> = {
  'ignores ranges': (_, response) => response.end(Buffer.alloc(large)),
  'sends too few bytes': (_, response) => response.writeHead(206, { ...version, 'content-range': 'bytes 0-9/10' }).end('01'),
  'sends too many bytes': (_, response) => response.writeHead(206, { ...version, 'content-range': 'bytes 0-1/2' }).end('0123456789'),
};
for (const [what, answer] of Object.entries(wrongStarts))
  test(`a file of an S3 service that ${what} is not opened`, async (t) => {
    const { storage } = await startFakeS3Storage(t, answer);
    await assert.rejects(storage.open(parsePath('/doc')), isUnavailable);
  });

test('a file that an S3 service has archived is not opened, and the error says why', async (t) => {
  const { storage } = await startFakeS3Storage(t, (_, response) =>
    response.writeHead(403).end('<Error><Code>InvalidObjectState</Code><StorageClass>GLACIER</StorageClass></Error>'),
  );
  await assert.rejects(storage.open(parsePath('/doc')), ItemArchived);
});

test('a small file is read from an S3 service with one request', async (t) => {
  const { storage, requests } = await startFakeS3Storage(t, (_, response) =>
    response.writeHead(206, { ...version, 'content-range': 'bytes 0-3/4' }).end('text'),
  );
  const openFile = await storage.open(parsePath('/doc'));
  assert.ok(openFile);
  assert.equal((await readBytes(openFile)).toString(), 'text');
  assert.deepEqual(requests, ['GET /bucket/doc']);
});
