import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startFakeS3 } from '../parts/fake-s3.ts';
import type { FakeResponder } from '../parts/fake-service.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { changeShare, createShare } from './visiting.ts';

const emptyList = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';
const fileHeaders = { 'content-length': '4', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT', 'content-range': 'bytes 0-3/4' };
/** Responds as an S3 service with a bucket that contains one file, `report ü.txt`. */
const withFile: FakeResponder = ({ method, url = '' }, response) => {
  if (url.includes('list-type')) return void response.end(emptyList);
  if (!url.startsWith('/bucket/report%20%C3%BC.txt')) return void response.writeHead(404).end();
  response.writeHead(method === 'HEAD' ? 200 : 206, fileHeaders).end(method === 'HEAD' ? '' : 'text');
};
const path = 'file/report%20%C3%BC.txt';

/** Starts Postern with a link to a fake bucket. @param share fields of the share */
async function startWithBucket(t: TestContext, share: object = {}, configuration: object = {}) {
  const fake = await startFakeS3(t, withFile);
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' } });
  const configurationText = JSON.stringify({ ...fake.configuration, ...configuration });
  await postern.call('location/add', { name: 'bucket', kind: 's3', configuration: configurationText });
  const { id, base } = await createShare(postern, { location: 'bucket', proxyMode: false, ...share });
  const download = (init: RequestInit = {}) => fetch(`${postern.publicUrl}${base}/${path}`, { redirect: 'manual', ...init });
  return { postern, id, base, download, endpoint: fake.configuration.endpoint };
}

test('with proxyMode false, a download is redirected to an address of the storage that is valid for a minute', async (t) => {
  const { postern, download, endpoint } = await startWithBucket(t);
  const { status, headers } = await download();
  const address = new URL(headers.get('location') ?? '');
  assert.equal(status, 302);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(address.origin + address.pathname, `${endpoint}/bucket/report%20%C3%BC.txt`);
  assert.equal(address.searchParams.get('X-Amz-Expires'), '60');
  assert.match(address.searchParams.get('X-Amz-Signature') ?? '', /^[0-9a-f]{64}$/);
  assert.match(address.searchParams.get('response-content-disposition') ?? '', /^attachment; .*filename\*=UTF-8''report%20%C3%BC\.txt/);
  assert.equal(address.searchParams.get('response-content-type'), 'text/plain');
  await until(async () => {
    const [entry] = (await postern.call('audit/search', { action: 'download' })).list;
    return entry.path === '/report ü.txt' && entry.outcome === 'done';
  });
});

test('visitors are sent to the publicEndpoint of a location', async (t) => {
  const { download } = await startWithBucket(t, {}, { publicEndpoint: 'https://files.example.com', pathStyle: true });
  assert.match((await download()).headers.get('location') ?? '', /^https:\/\/files\.example\.com\/bucket\/report/);
});

test('a HEAD request for a file is answered by Postern, not redirected', async (t) => {
  const { download } = await startWithBucket(t);
  const { status, headers } = await download({ method: 'HEAD' });
  assert.deepEqual([status, headers.get('content-length')], [200, '4']);
});

const withinAMinute = () => new Date(Date.now() + 50_000).toISOString();
const sharesWithoutRedirect: Readonly<Record<string, () => object>> = {
  'with proxyMode true': () => ({ proxyMode: true }),
  'of a share that ends within a minute': () => ({ validityEndDate: withinAMinute() }),
  'that may have to be signed': () => ({ digitalSignature: true }),
};
for (const [which, share] of Object.entries(sharesWithoutRedirect))
  test(`a download ${which} is sent by Postern`, async (t) => {
    const { download } = await startWithBucket(t, share());
    const response = await download();
    assert.deepEqual([response.status, await response.text()], [200, 'text']);
  });

test('a download is sent by Postern if the login profile has address ranges', async (t) => {
  const { postern, id, download } = await startWithBucket(t);
  const profile = await postern.call('loginprofile/add', { title: 'office', typeId: 1, ipRange: '127.0.0.1' });
  await changeShare(postern, id, { authenticationId: profile.id });
  assert.equal((await download()).status, 200);
});

test('a download of a copy-protected file gets 403, not an address of the storage', async (t) => {
  const { download } = await startWithBucket(t, { copyProtect: true });
  assert.equal((await download()).status, 403);
});

test('a visitor without the permission to download gets no address of the storage', async (t) => {
  const { base, postern, download } = await startWithBucket(t, { canDownload: false });
  assert.equal((await download()).status, 403);
  const view = await fetch(`${postern.publicUrl}${base}/view/report%20%C3%BC.txt`, { redirect: 'manual' });
  assert.equal(view.status, 200);
});

test('a request for an absent file gets 404, not an address of the storage', async (t) => {
  const { base, postern } = await startWithBucket(t);
  assert.equal((await postern.visit(`${base}/file/absent`)).status, 404);
});
