import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startFakeS3 } from '../parts/fake-s3.ts';
import type { FakeResponder } from '../parts/fake-service.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { checkFileActions } from './file-actions.ts';
import { createShare, jsonPostRequest } from './visiting.ts';

const emptyList = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';

/** Starts Postern with a location `bucket` at a fake service, and a link to it. */
async function startWithService(t: TestContext, answer: FakeResponder) {
  const { configuration, closeConnections } = await startFakeS3(t, answer);
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' } });
  await postern.call('location/add', { name: 'bucket', kind: 's3', configuration: JSON.stringify(configuration) });
  const { base } = await createShare(postern, { location: 'bucket' });
  return { postern, base, closeConnections };
}

test('while an S3 service does not respond, other locations work, and when it works again, the waiting visitors get a response', async (t) => {
  const waiting: ServerResponse[] = [];
  let hangs = false;
  const { postern, base, closeConnections } = await startWithService(t, (_, response) =>
    hangs ? waiting.push(response) : response.end(emptyList),
  );
  const folder = join(postern.files, 'other');
  await mkdir(folder);
  await postern.call('location/add', { name: 'other', kind: 'local', configuration: JSON.stringify({ folder }) });
  hangs = true;
  const requests = Array.from({ length: 60 }, (_, index) => postern.visit(`${base}/${['list', 'file/doc', 'zip'][index % 3]}`));
  await until(() => waiting.length > 20);
  await checkFileActions(postern, 'other');
  assert.equal((await postern.send('overview/get')).body.locations.length, 3);
  assert.equal((await postern.visit('/health/live')).status, 200);
  hangs = false;
  closeConnections();
  for (const { status } of await Promise.all(requests)) assert.ok([200, 404, 503].includes(status), `${status}`);
  assert.equal((await postern.visit(`${base}/list`)).status, 200);
});

test('a visitor who opens a file that an S3 service has archived gets 409 with the reason', async (t) => {
  const { postern, base } = await startWithService(t, ({ url = '' }, response) =>
    url.startsWith('/bucket/doc') ? response.writeHead(403).end('<Error><Code>InvalidObjectState</Code></Error>') : response.end(emptyList),
  );
  const { status, body } = await postern.visit(`${base}/file/doc`);
  assert.deepEqual([status, body.code], [409, 'fileArchived']);
});

/** Returns the XML of one object in a listing. */
const objectXml = (key: string, storageClass = 'STANDARD') =>
  `<Contents><Key>${key}</Key><Size>3</Size><ETag>"e"</ETag><LastModified>2026-01-01T00:00:00Z</LastModified><StorageClass>${storageClass}</StorageClass></Contents>`;
const archivedError = '<Error><Code>InvalidObjectState</Code></Error>';

test('an archive with a file that an S3 service must restore first is refused before its first byte', async (t) => {
  const list = `<ListBucketResult>${objectXml('a.txt')}${objectXml('old.txt', 'DEEP_ARCHIVE')}</ListBucketResult>`;
  const { postern, base } = await startWithService(t, ({ url = '' }, response) =>
    url.startsWith('/bucket/old.txt') ? response.writeHead(403).end(archivedError) : response.end(list),
  );
  const { status, body } = await postern.visit(`${base}/zip`);
  assert.deepEqual([status, body.code], [409, 'fileArchived']);
  assert.match(body.detail, /old\.txt/);
});

test('a file that an S3 service must restore first cannot be renamed, and the response says why', async (t) => {
  const { postern, base } = await startWithService(t, ({ method, url = '' }, response) => {
    const isThere = url.startsWith('/bucket/old.txt');
    if (url.includes('.postern')) response.end();
    else if (method === 'PUT') response.writeHead(403).end(archivedError);
    else if (method === 'POST') response.end('<DeleteResult/>');
    else if (method !== 'HEAD') response.end(emptyList);
    else if (isThere) response.writeHead(200, { 'content-length': '3', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' }).end();
    else response.writeHead(404).end();
  });
  const { status, body } = await postern.visit(`${base}/rename`, jsonPostRequest({ path: 'old.txt', name: 'new.txt' }));
  assert.deepEqual([status, body.code], [409, 'fileArchived']);
});

test('a folder of an S3 location has no modification time', async (t) => {
  const list = '<ListBucketResult><CommonPrefixes><Prefix>reports/</Prefix></CommonPrefixes></ListBucketResult>';
  const { postern, base } = await startWithService(t, (_, response) => response.end(list));
  const { entries } = (await postern.visit(`${base}/list`)).body;
  assert.deepEqual(
    entries.map(({ name, modifiedDateTime }: { name: string; modifiedDateTime: string | null }) => [name, modifiedDateTime]),
    [['reports', null]],
  );
});

test('a new file whose path is too long for an S3 service is refused, and a file or folder with such a path is treated as missing', async (t) => {
  const { postern, base } = await startWithService(t, ({ method, url = '' }, response) => {
    const prefix = new URL(url, 'http://service').searchParams.get('prefix') ?? '';
    if (method === 'HEAD') response.writeHead(404).end();
    else response.end(`<ListBucketResult>${objectXml(`${prefix}a`)}</ListBucketResult>`);
  });
  const path = Array.from({ length: 5 }, () => 'é'.repeat(120)).join('/');
  const upload = (to: string) => postern.visit(`${base}/file/${to}`, { method: 'PUT', body: 'text' });
  const [longNameAnswer, inLongFolder] = [await upload(path), await upload(`${path}/a.txt`)];
  assert.deepEqual([longNameAnswer.status, longNameAnswer.body.code], [400, 'pathMalformed']);
  assert.deepEqual([inLongFolder.status, inLongFolder.body.code], [404, 'itemAbsent']);
  assert.equal((await postern.visit(`${base}/file/${path}`)).status, 404);
});
