import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { atEnd } from '../parts/at-end.ts';
import { startFakeS3 } from '../parts/fake-s3.ts';
import { openS3 } from '../parts/open-s3.ts';
import { isUnavailable, listPageXml, startFakeS3Storage } from './fake-s3-storage.ts';
import { namesIn, newToken, parsePath } from './storage.contract.ts';

test('an S3 service that redirects to another host is unavailable, and the other host gets no request', async (t) => {
  const other = await startFakeS3Storage(t, (_, response) => response.end(listPageXml([])));
  const { storage } = await startFakeS3Storage(t, (_, response) =>
    response.writeHead(307, { location: `${other.endpoint}/bucket/` }).end(),
  );
  await assert.rejects(storage.check(), isUnavailable);
  assert.deepEqual(other.requests, []);
});

const wrongLists: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'not XML': (response) => response.end('<html><body>Welcome'),
  'XML with a declared entity': (response) =>
    response.end('<!DOCTYPE a [<!ENTITY b "bbbb">]><ListBucketResult><Contents><Key>&b;</Key></Contents></ListBucketResult>'),
  'XML with many attributes': (response) =>
    response.end(`<ListBucketResult ${Array.from({ length: 30 }, (_, index) => `a${index}=""`).join(' ')}/>`),
  'XML with too many levels': (response) => response.end('<a>'.repeat(100)),
  'endless XML': (response) => {
    const more = () => {
      while (response.write('<Contents></Contents>'.repeat(1000)));
    };
    response.write('<ListBucketResult>');
    response.on('drain', more);
    more();
  },
  'an incomplete response': (response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('<ListBucketResult>');
    setImmediate(() => response.destroy());
  },
  'an error with status 200': (response) => response.end('<Error><Code>InternalError</Code></Error>'),
};

for (const [what, answer] of Object.entries(wrongLists))
  test(`an S3 service whose listing is ${what} is unavailable`, async (t) => {
    const { storage } = await startFakeS3Storage(t, (_, response) => answer(response));
    await assert.rejects(storage.check(), isUnavailable);
  });

test('a key of an S3 service is decoded only if the service says that it is encoded', async (t) => {
  for (const [encoding, names] of [
    ['', ['a+b%20c']],
    ['<EncodingType>url</EncodingType>', ['a b c']],
  ] as const) {
    const { storage } = await startFakeS3Storage(t, (_, response) =>
      response.end(listPageXml(['a+b%20c']).replace('<IsTruncated>', `${encoding}<IsTruncated>`)),
    );
    assert.deepEqual(await namesIn(storage, '/'), names);
  }
});

test('an S3 location that works is checked at most once in two minutes, and one that does not work is checked each time', async (t) => {
  let now = 0;
  let works = true;
  const { storage, requests } = await startFakeS3Storage(
    t,
    (_, response) => response.writeHead(works ? 200 : 403).end(listPageXml([])),
    () => now,
  );
  for (now of [0, 30_000, 119_999]) await storage.check();
  assert.equal(requests.length, 1);
  works = false;
  for (now of [120_000, 150_000]) await assert.rejects(storage.check(), isUnavailable);
  assert.equal(requests.length, 3);
  works = true;
  await storage.check();
  assert.equal(requests.length, 4);
});

test('an S3 service whose listing takes longer than five minutes is unavailable', async (t) => {
  let [now, pages] = [0, 0];
  const { storage } = await startFakeS3Storage(
    t,
    ({ url = '' }, response) => {
      now += url.includes('max-keys=1&') ? 0 : 10_000;
      pages += 1;
      response.end(listPageXml([`file ${pages}`], `page ${pages}`));
    },
    () => now,
  );
  await assert.rejects(namesIn(storage, '/'), isUnavailable);
});

test('an S3 service that sends a key or an ETag longer than any service allows is unavailable', async (t) => {
  for (const list of [listPageXml(['k'.repeat(1025)]), listPageXml(['a']).replace('"e"', 'e'.repeat(257))]) {
    const { storage } = await startFakeS3Storage(t, (_, response) => response.end(list));
    await assert.rejects(namesIn(storage, '/'), isUnavailable);
  }
});

test('an S3 service that ignores the prefix of a list is unavailable, and none of its other objects is deleted', async (t) => {
  const { configuration, requests } = await startFakeS3(t, (_, response) => response.end(listPageXml(['contracts/2026.pdf'])));
  const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  atEnd(t, () => outbound[Symbol.asyncDispose]());
  const storage = openS3({ ...configuration, prefix: 'public' }, outbound);
  await assert.rejects(
    storage.sweep(async () => []),
    isUnavailable,
  );
  await assert.rejects(storage.remove(parsePath('/'), 'folder', { token: newToken() }), StorageUnavailable);
  assert.ok(!requests.some((request) => request.startsWith('POST')), requests.join());
});

test('if an S3 service lists the staging area without end, a sweep stops when its signal is aborted', async (t) => {
  const timeLimit = new AbortController();
  const now = new Date().toISOString();
  let pages = 0;
  const { storage } = await startFakeS3Storage(t, (_, response) => {
    pages += 1;
    if (pages === 3) timeLimit.abort(new Error('the time is over'));
    response.end(listPageXml([`.postern/${pages}.part`], `${pages}`).replace('2026-01-01T00:00:00Z', now));
  });
  await assert.rejects(
    storage.sweep(async () => [], timeLimit.signal),
    /the time is over/,
  );
  assert.equal(pages, 3);
});

test('a folder of an S3 service counts as existing even if the first page of its list is empty', async (t) => {
  const { storage } = await startFakeS3Storage(t, ({ url = '' }, response) =>
    response.end(url.includes('continuation-token') ? listPageXml(['folder/a']) : listPageXml([], 'next')),
  );
  assert.deepEqual(await storage.list(parsePath('/folder')).then((list) => list !== null), true);
});

test('an S3 service whose listing repeats the same page is unavailable', async (t) => {
  const service = await startFakeS3Storage(t, (_, response) => response.end(listPageXml(['a'], 'next')));
  await assert.rejects(namesIn(service.storage, '/'), isUnavailable);
  assert.ok(service.requests.length < 5);
});
