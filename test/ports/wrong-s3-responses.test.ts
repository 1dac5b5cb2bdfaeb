import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import { ItemArchived, ItemBusy, ItemChanged, OutcomeUnknown, StorageUnavailable, StorageUnusable } from '#ports/storage.ts';
import { atEnd } from '../parts/at-end.ts';
import { type FakeAnswer, startFakeS3 } from '../parts/fake-s3.ts';
import { openS3 } from '../parts/open-s3.ts';
import { namesIn, path, readBytes, token } from './storage.contract.ts';

/** Starts a fake service. @returns a storage in it, and the requests that it received */
async function fakeService(t: TestContext, answer: FakeAnswer, monotonic?: () => number) {
  const { configuration, requests } = await startFakeS3(t, answer);
  const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  atEnd(t, () => outbound[Symbol.asyncDispose]());
  return { storage: openS3(configuration, outbound, monotonic && { monotonic }), requests, endpoint: configuration.endpoint };
}

const listed = (keys: readonly string[], next = '') =>
  `<ListBucketResult><IsTruncated>${next !== ''}</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>${keys
    .map((name) => `<Contents><Key>${name}</Key><Size>4</Size><ETag>"e"</ETag><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>`)
    .join('')}</ListBucketResult>`;
const file = { 'content-length': '4', etag: '"e"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' };
const isUnavailable = (cause: unknown) => cause instanceof StorageUnavailable && !(cause instanceof OutcomeUnknown);

test('an S3 service that redirects to another host is unavailable, and the other host gets no request', async (t) => {
  const other = await fakeService(t, (_, response) => response.end(listed([])));
  const { storage } = await fakeService(t, (_, response) => response.writeHead(307, { location: `${other.endpoint}/bucket/` }).end());
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
    const { storage } = await fakeService(t, (_, response) => answer(response));
    await assert.rejects(storage.check(), isUnavailable);
  });

test('a key of an S3 service is decoded only if the service says that it is encoded', async (t) => {
  for (const [encoding, names] of [
    ['', ['a+b%20c']],
    ['<EncodingType>url</EncodingType>', ['a b c']],
  ] as const) {
    const { storage } = await fakeService(t, (_, response) =>
      response.end(listed(['a+b%20c']).replace('<IsTruncated>', `${encoding}<IsTruncated>`)),
    );
    assert.deepEqual(await namesIn(storage, '/'), names);
  }
});

test('an S3 location that works is checked at most every two minutes, and one that does not work is checked each time', async (t) => {
  let now = 0;
  let works = true;
  const { storage, requests } = await fakeService(
    t,
    (_, response) => response.writeHead(works ? 200 : 403).end(listed([])),
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
  const { storage } = await fakeService(
    t,
    ({ url = '' }, response) => {
      now += url.includes('max-keys=1&') ? 0 : 10_000;
      pages += 1;
      response.end(listed([`file ${pages}`], `page ${pages}`));
    },
    () => now,
  );
  await assert.rejects(namesIn(storage, '/'), isUnavailable);
});

test('an S3 service that sends a key, or an ETag, that no service can have is unavailable', async (t) => {
  for (const list of [listed(['k'.repeat(1025)]), listed(['a']).replace('"e"', 'e'.repeat(257))]) {
    const { storage } = await fakeService(t, (_, response) => response.end(list));
    await assert.rejects(namesIn(storage, '/'), isUnavailable);
  }
});

test('an S3 service that ignores the prefix of a list is unavailable, and none of its other objects is deleted', async (t) => {
  const { configuration, requests } = await startFakeS3(t, (_, response) => response.end(listed(['contracts/2026.pdf'])));
  const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  atEnd(t, () => outbound[Symbol.asyncDispose]());
  const storage = openS3({ ...configuration, prefix: 'public' }, outbound);
  await assert.rejects(
    storage.sweep(async () => []),
    isUnavailable,
  );
  await assert.rejects(storage.remove(path('/'), 'folder', { token: token() }), StorageUnavailable);
  assert.ok(!requests.some((request) => request.startsWith('POST')), requests.join());
});

test('a page of HTML with status 200 is no success of an S3 service', async (t) => {
  const { storage } = await fakeService(t, (_, response) => {
    response.removeHeader('etag');
    response.end('<html><body>Maintenance</body></html>');
  });
  await assert.rejects(storage.check(), isUnavailable);
  await assert.rejects(storage.createFolder(path('/'), 'folder', { token: token(), pendingTokens: [] }), StorageUnavailable);
});

test('an S3 service without the bucket is unavailable, and its files are not absent', async (t) => {
  const { storage } = await fakeService(t, (_, response) => response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>'));
  await assert.rejects(storage.open(path('/doc')), isUnavailable);
  const change = { action: 'createFolder', parent: path('/'), name: 'folder', newName: '', token: token() } as const;
  await assert.rejects(storage.recover(change), isUnavailable);
});

test('a folder of an S3 service exists although the first page of its list is empty', async (t) => {
  const { storage } = await fakeService(t, ({ url = '' }, response) =>
    response.end(url.includes('continuation-token') ? listed(['folder/a']) : listed([], 'next')),
  );
  assert.deepEqual(await storage.list(path('/folder')).then((list) => list !== null), true);
});

test('a part that an S3 service fails to store is sent again', async (t) => {
  let attempts = 0;
  const { storage } = await fakeService(t, ({ method, url = '' }, response) => {
    if (method === 'POST')
      return void response.end('<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>');
    attempts += url.includes('partNumber=') ? 1 : 0;
    response.writeHead(attempts === 1 ? 500 : 200).end('<ListBucketResult/>');
  });
  const upload = await storage.upload({ parent: path('/'), name: 'a', size: null, ifTaken: 'refuse' }, token());
  await upload.write(Buffer.from('text'));
  await upload.sync();
  await upload.discard();
  assert.equal(attempts, 2);
});

test('a request that an overloaded S3 service refuses is sent again', async (t) => {
  let refusals = 0;
  const { storage, requests } = await fakeService(t, ({ method }, response) => {
    if (method === 'HEAD') return void response.writeHead(404).end();
    if (method !== 'PUT') return void response.end(listed([]));
    refusals += 1;
    if (refusals > 1) response.end();
    else response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
  });
  await storage.createFolder(path('/'), 'folder', { token: token(), pendingTokens: [] });
  assert.equal(requests.filter((request) => request.startsWith('PUT')).length, 2);
});

test('a file is uploaded to an S3 service that answers 501 to conditions', async (t) => {
  const stored: string[] = [];
  const { storage } = await fakeService(t, ({ method, headers, url = '' }, response) => {
    if (method === 'HEAD') return void response.writeHead(404).end();
    if (method !== 'PUT') return void response.end(listed([]));
    if (headers['if-none-match']) return void response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>');
    stored.push(`${url} ${headers['content-length']}`);
    response.end();
  });
  const upload = await storage.upload({ parent: path('/'), name: 'a', size: 4, ifTaken: 'refuse' }, token());
  await upload.write(Buffer.from('text'));
  assert.equal(await upload.place(), 'a');
  assert.deepEqual(stored, ['/bucket/a 4']);
});

test('a folder that another process renames or deletes at an S3 service is busy, not absent', async (t) => {
  const { storage } = await fakeService(t, ({ method }, response) => {
    if (method === 'PUT') response.writeHead(412).end();
    else response.end(listed(['folder/a']));
  });
  await assert.rejects(storage.remove(path('/'), 'folder', { token: token() }), ItemBusy);
});

test('a folder with more than 100,000 files at an S3 service is not deleted in part', async (t) => {
  let pages = 0;
  const { storage, requests } = await fakeService(t, ({ method, url = '' }, response) => {
    if (method === 'HEAD') return void response.writeHead(404).end();
    if (method !== 'GET') return void response.end();
    pages += 1;
    const keys = Array.from({ length: url.includes('max-keys=1&') ? 1 : 5000 }, (_, index) => `folder/${pages}-${index}`);
    response.end(listed(keys, `page ${pages}`));
  });
  await assert.rejects(storage.remove(path('/'), 'folder', { token: token() }), StorageUnusable);
  assert.ok(!requests.some((request) => request.startsWith('POST')), 'nothing was deleted');
});

test('an S3 service whose listing never ends is unavailable', async (t) => {
  const same = await fakeService(t, (_, response) => response.end(listed(['a'], 'next')));
  await assert.rejects(namesIn(same.storage, '/'), isUnavailable);
  assert.ok(same.requests.length < 5);
});

test('at an S3 service that reports a failed copy with status 200, a file that is renamed keeps its name', async (t) => {
  const { storage, requests } = await fakeService(t, ({ method, headers, url = '' }, response) => {
    if (headers['x-amz-copy-source']) return void response.end('<Error><Code>InternalError</Code></Error>');
    if (method === 'HEAD') return void (url.includes('/old') ? response.writeHead(200, file).end() : response.writeHead(404).end());
    response.end(method === 'GET' ? listed([]) : '<DeleteResult></DeleteResult>');
  });
  await assert.rejects(storage.rename(path('/'), 'old', 'new', { token: token(), pendingTokens: [] }), StorageUnavailable);
  assert.ok(!requests.some((request) => request.startsWith('POST')), 'nothing was deleted');
});

test('an S3 service that answers 500 to a change leaves its outcome unknown', async (t) => {
  const { storage } = await fakeService(t, ({ method }, response) => {
    if (method === 'GET') response.end(listed([]));
    else response.writeHead(method === 'HEAD' ? 404 : 500).end();
  });
  const change = { token: token(), pendingTokens: [] };
  await assert.rejects(storage.createFolder(path('/'), 'folder', change), OutcomeUnknown);
});

const large = 1 << 20; // bytes
const rangeOf = ({ headers }: IncomingMessage) =>
  /^bytes=(\d+)-(\d+)$/
    .exec(headers.range ?? '')
    ?.slice(1)
    .map(Number) ?? [0, 0];
const version = { etag: '"e"', 'last-modified': file['last-modified'] };
const partHeaders = (request: IncomingMessage) => ({ ...version, 'content-range': `bytes ${rangeOf(request).join('-')}/${large}` });
/** Answers the first request for a file, whose size is a megabyte, as a service does. @param later answers the others */
const fileService =
  (later: FakeAnswer): FakeAnswer =>
  (request, response) => {
    const [start = 0, end = 0] = rangeOf(request);
    if (start > 0) return later(request, response);
    const headers = { ...version, 'content-range': `bytes 0-${end}/${large}` };
    response.writeHead(206, headers).end(Buffer.alloc(end + 1));
  };
const wrongContents: readonly (readonly [string, FakeAnswer, typeof StorageUnavailable | typeof ItemChanged])[] = [
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
    const { storage } = await fakeService(t, fileService(later));
    const opened = await storage.open(path('/doc'));
    assert.ok(opened);
    let received = 0;
    await assert.rejects(async () => {
      for await (const piece of opened.read({ start: 0, end: large - 1 })) received += piece.length;
    }, error);
    assert.ok(received <= large);
  });

const wrongStarts: Readonly<Record<string, FakeAnswer>> = {
  'ignores ranges': (_, response) => response.end(Buffer.alloc(large)),
  'sends too few bytes': (_, response) => response.writeHead(206, { ...version, 'content-range': 'bytes 0-9/10' }).end('01'),
  'sends too many bytes': (_, response) => response.writeHead(206, { ...version, 'content-range': 'bytes 0-1/2' }).end('0123456789'),
};
for (const [what, answer] of Object.entries(wrongStarts))
  test(`a file of an S3 service that ${what} is not opened`, async (t) => {
    const { storage } = await fakeService(t, answer);
    await assert.rejects(storage.open(path('/doc')), isUnavailable);
  });

test('a file that an S3 service has archived is not opened, and the error says why', async (t) => {
  const { storage } = await fakeService(t, (_, response) =>
    response.writeHead(403).end('<Error><Code>InvalidObjectState</Code><StorageClass>GLACIER</StorageClass></Error>'),
  );
  await assert.rejects(storage.open(path('/doc')), ItemArchived);
});

test('a small file is read from an S3 service with one request', async (t) => {
  const { storage, requests } = await fakeService(t, (_, response) =>
    response.writeHead(206, { ...version, 'content-range': 'bytes 0-3/4' }).end('text'),
  );
  const opened = await storage.open(path('/doc'));
  assert.ok(opened);
  assert.equal((await readBytes(opened)).toString(), 'text');
  assert.deepEqual(requests, ['GET /bucket/doc']);
});

test('all parts of an upload to an S3 service have the same size, except the last one', async (t) => {
  const lengths: string[] = [];
  const { storage } = await fakeService(t, ({ method, headers, url = '' }, response) => {
    if (url.includes('partNumber=')) lengths.push(headers['content-length'] ?? '');
    const isStart = method === 'POST';
    response
      .setHeader('etag', '"e"')
      .end(isStart ? '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>' : '<ListBucketResult/>');
  });
  const upload = await storage.upload({ parent: path('/'), name: 'a', size: null, ifTaken: 'refuse' }, token());
  for (let chunk = 0; chunk < 17; chunk += 1) await upload.write(Buffer.alloc(1_000_000));
  await upload.sync();
  await upload.discard();
  assert.deepEqual(lengths, ['8388608', '8388608', '222784']);
});
