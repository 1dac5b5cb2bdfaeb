import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { MemoryBudget } from '#adapters/storage/memory-budget.ts';
import { WebdavStorage } from '#adapters/storage/webdav/webdav-storage.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import type { WebdavConfiguration } from '#core/records/location-configurations.ts';
import { OutcomeUnknown, StorageFull, StorageUnavailable } from '#ports/storage.ts';
import { atEnd } from '../parts/at-end.ts';
import { type FakeAnswer, startFakeService } from '../parts/fake-s3.ts';
import { partSpace } from '../parts/open-s3.ts';
import { namesIn, path, token } from './storage.contract.ts';

/** Starts a fake WebDAV server. @returns a storage in it, and the requests that it received */
async function fakeServer(t: TestContext, answer: FakeAnswer, over: Partial<WebdavConfiguration> = {}) {
  const { endpoint, requests } = await startFakeService(t, answer);
  const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  atEnd(t, () => outbound[Symbol.asyncDispose]());
  const services = { outbound, parts: partSpace(), memory: new MemoryBudget() };
  return { storage: new WebdavStorage({ url: `${endpoint}/dav`, ...over }, 1, services), requests };
}

const folder = '<d:resourcetype><d:collection/></d:resourcetype>';
const file =
  '<d:resourcetype/><d:getcontentlength>4</d:getcontentlength><d:getlastmodified>Thu, 01 Jan 2026 00:00:00 GMT</d:getlastmodified>';
const found = (href: string, properties: string) =>
  `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${properties}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`;
const list = (...responses: string[]) => `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">${responses.join('')}</d:multistatus>`;
const context = () => ({ token: token(), pendingTokens: [] });

test('a WebDAV server may name its entries by addresses, in any order, and itself among them', async (t) => {
  const { storage } = await fakeServer(t, ({ headers }, response) => {
    const host = `http://${headers.host}/dav`;
    response.writeHead(207).end(list(found(`${host}/b%20c/`, folder), found('/dav/a%26b.txt', file), found(`${host}/`, folder)));
  });
  assert.deepEqual(await namesIn(storage, '/'), ['a&b.txt', 'b c']);
});

test('names that a WebDAV server sends are checked: a path, a hidden folder and a broken encoding are not listed', async (t) => {
  const names = ['a%2Fb', '..', '%2e%2e', '.postern', '%ff', 'good'];
  const { storage } = await fakeServer(t, (_, response) =>
    response.writeHead(207).end(list(found('/dav/', folder), ...names.map((name) => found(`/dav/${name}`, file)), found('/other/x', file))),
  );
  assert.deepEqual(await namesIn(storage, '/'), ['good']);
});

test('a change that a WebDAV server makes only in part has an unknown outcome', async (t) => {
  const { storage } = await fakeServer(t, ({ method, url = '' }, response) => {
    if (method === 'MOVE') return void response.writeHead(207).end(list());
    if (method === 'PROPFIND' && url.endsWith('/new')) return void response.writeHead(404).end();
    response.writeHead(method === 'PROPFIND' ? 207 : 201).end(method === 'PROPFIND' ? list(found(url, folder)) : '');
  });
  await assert.rejects(storage.rename(path('/'), 'old', 'new', context()), OutcomeUnknown);
});

test('a WebDAV server that ignores ranges sends no wrong bytes to visitors', async (t) => {
  const { storage } = await fakeServer(t, ({ method, url = '' }, response) => {
    if (method === 'GET') return void response.end('text');
    response.writeHead(207).end(list(found(url, file)));
  });
  await assert.rejects(storage.open(path('/a')), StorageUnavailable);
});

test('a full WebDAV server is reported as a full storage', async (t) => {
  const { storage } = await fakeServer(t, ({ method, url = '' }, response) => {
    if (method === 'PROPFIND') return void response.writeHead(207).end(list(found(url, folder)));
    response.writeHead(method === 'PUT' ? 507 : 201).end();
  });
  const upload = await storage.upload({ parent: path('/'), name: 'a', size: 4, ifTaken: 'refuse' }, token());
  await upload.write(Buffer.from('text'));
  await assert.rejects(upload.sync(), StorageFull);
  await upload.discard();
});

test('a page of HTML is no folder of a WebDAV server', async (t) => {
  const { storage } = await fakeServer(t, (_, response) => response.writeHead(207).end('<html><body>Maintenance</body></html>'));
  await assert.rejects(storage.check(), StorageUnavailable);
});

test('a password is not sent before a WebDAV server asks for it, and with Digest never itself', async (t) => {
  const sent: string[] = [];
  let nonce = 0;
  const answer: FakeAnswer = ({ headers, url = '' }, response) => {
    const { authorization = '' } = headers;
    sent.push(authorization);
    nonce += 1;
    if (!authorization.startsWith('Digest ')) {
      const challenge = `Basic realm="files", Digest realm="files", nonce="n${nonce}", qop="auth,auth-int", algorithm=SHA-256`;
      return void response.writeHead(401, { 'www-authenticate': challenge }).end();
    }
    response.writeHead(207).end(list(found(url, folder)));
  };
  const { storage } = await fakeServer(t, answer, { username: 'ann', password: 'secret' });
  await storage.check();
  assert.equal(sent[0], '');
  assert.match(
    sent[1] ?? '',
    /^Digest username="ann", realm="files", nonce="n1", uri="\/dav\/", response="[0-9a-f]{64}", algorithm=SHA-256, qop=auth,/,
  );
  assert.ok(!sent.join().includes('Basic'));
});

test('a WebDAV server that refuses the credentials is asked a few times, and not without end', async (t) => {
  let nonce = 0;
  const refuse: FakeAnswer = (_, response) => {
    nonce += 1;
    response.writeHead(401, { 'www-authenticate': `Digest realm="files", nonce="${nonce}", qop="auth"` }).end();
  };
  const { storage, requests } = await fakeServer(t, refuse, { username: 'ann', password: 'wrong' });
  await assert.rejects(storage.check(), /password or the token is wrong/);
  assert.ok(requests.length <= 4, requests.join());
});
