import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { MachineTokens } from '#adapters/storage/azure/machine-token.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import { ChangeImpossible, OutcomeUnknown, StorageUnavailable } from '#ports/storage-errors.ts';
import { atEnd } from '../parts/at-end.ts';
import { type FakeResponder, startFakeService } from '../parts/fake-service.ts';
import { openAzure } from '../parts/open-azure.ts';
import { newToken, parsePath } from './storage.contract.ts';

/** Starts a fake Azure Blob Storage service. @returns a storage in it, and the requests that the service received */
async function startFakeAzure(t: TestContext, answer: FakeResponder) {
  const { endpoint, requests } = await startFakeService(t, answer);
  const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  atEnd(t, () => outbound[Symbol.asyncDispose]());
  return { storage: openAzure({ endpoint: `${endpoint}/acme`, container: 'reports', accountKey: 'c2VjcmV0' }, outbound), requests };
}

const listXml = (blobs: string, next = '') =>
  `<EnumerationResults><Blobs>${blobs}</Blobs><NextMarker>${next}</NextMarker></EnumerationResults>`;
const blob = (name: string) =>
  `<Blob>${name}<Properties><Content-Length>4</Content-Length><Etag>0x1</Etag><Last-Modified>Thu, 01 Jan 2026 00:00:00 GMT</Last-Modified></Properties></Blob>`;

test('an Azure account with a hierarchical namespace is refused if the configuration does not set hierarchicalNamespace, and the error names this member', async (t) => {
  const { storage, requests } = await startFakeAzure(t, (_, response) => response.setHeader('x-ms-is-hns-enabled', 'true').end());
  await assert.rejects(storage.check(), /needs hierarchicalNamespace: true/);
  assert.ok(
    requests.every((request) => request.startsWith('HEAD ')),
    requests.join(),
  );
});

test('a name that Azure sends encoded, because XML cannot contain it, is decoded', async (t) => {
  const names = `${blob('<Name Encoded="true">a%EF%BF%BEb%25</Name>')}${blob('<Name>50%25</Name>')}`;
  const { storage } = await startFakeAzure(t, (_, response) => response.end(listXml(names)));
  const listedNames: string[] = [];
  for await (const entries of (await storage.list(parsePath('/'))) ?? []) listedNames.push(...entries.map(({ name }) => name));
  assert.deepEqual(listedNames, ['a\ufffeb%', '50%25']);
});

test('a listing of Azure that repeats the same page fails', async (t) => {
  const { storage } = await startFakeAzure(t, (_, response) => response.end(listXml('', 'again')));
  await assert.rejects(storage.check(), /lists the same keys again/);
});

test('an HTML page with status 200 is not accepted as a successful response of Azure', async (t) => {
  const { storage } = await startFakeAzure(t, (_, response) => response.end('<html><body>Maintenance</body></html>'));
  await assert.rejects(storage.check(), StorageUnavailable);
});

test('a request that Azure refuses because it is overloaded is sent again', async (t) => {
  let putCount = 0;
  const { storage } = await startFakeAzure(t, ({ method }, response) => {
    if (method === 'HEAD') return void response.writeHead(404).end();
    if (method !== 'PUT') return void response.end(listXml(''));
    putCount += 1;
    if (putCount > 1) response.writeHead(201).end();
    else response.writeHead(503, { 'x-ms-error-code': 'ServerBusy' }).end();
  });
  await storage.createFolder(parsePath('/'), 'folder', { token: newToken(), pendingTokens: [] });
  assert.equal(putCount, 2);
});

test('a file that another program has leased cannot be replaced, and the error names the lease', async (t) => {
  const { storage } = await startFakeAzure(t, ({ method }, response) => {
    if (method === 'PUT') return void response.writeHead(412, { 'x-ms-error-code': 'LeaseIdMissing' }).end();
    response.setHeader('content-length', method === 'HEAD' ? '4' : listXml('').length);
    response.setHeader('last-modified', 'Thu, 01 Jan 2026 00:00:00 GMT').end(method === 'HEAD' ? '' : listXml(''));
  });
  const upload = await storage.upload({ parent: parsePath('/'), name: 'a', size: 4, ifTaken: { replaces: '"e"' } }, newToken());
  await upload.write(Buffer.from('text'));
  await assert.rejects(upload.place(), (cause) => cause instanceof ChangeImpossible && /lease/.test(cause.message));
});

test('a copy that Azure does not complete leaves the outcome of a rename unknown', async (t) => {
  let isCopying = false;
  const { storage } = await startFakeAzure(t, ({ method, url = '', headers }, response) => {
    response.setHeader('last-modified', 'Thu, 01 Jan 2026 00:00:00 GMT').setHeader('content-length', '0');
    if (headers['x-ms-copy-source']) {
      isCopying = true;
      return void response.setHeader('x-ms-copy-status', 'pending').writeHead(202).end();
    }
    const exists = url.includes('/old') || (isCopying && url.includes('/new'));
    if (method === 'HEAD')
      return void response
        .setHeader('x-ms-copy-status', isCopying ? 'failed' : '')
        .writeHead(exists ? 200 : 404)
        .end();
    if (method === 'GET') response.removeHeader('content-length');
    response.writeHead(method === 'PUT' ? 201 : 200).end(method === 'GET' ? listXml('') : '');
  });
  const context = { token: newToken(), pendingTokens: [] };
  await assert.rejects(storage.rename(parsePath('/'), 'old', 'new', context), OutcomeUnknown);
});

test('recovery fails while Azure has not completed a copy, and deletes a copy that has failed', async (t) => {
  let state = 'pending';
  const deletedPaths: string[] = [];
  const { storage } = await startFakeAzure(t, ({ method, url = '' }, response) => {
    response.setHeader('last-modified', 'Thu, 01 Jan 2026 00:00:00 GMT').setHeader('x-ms-copy-status', state);
    if (method === 'GET') return void (url.includes('comp=list') ? response.end(listXml('')) : response.writeHead(404).end());
    if (method === 'DELETE') deletedPaths.push(url.split('?')[0] ?? '');
    response.setHeader('content-length', '0').setHeader('x-ms-meta-posterntoken', 'the-token');
    response.writeHead(deletedPaths.length > 0 && method === 'HEAD' ? 404 : 200).end();
  });
  const change = { action: 'upload', parent: parsePath('/'), name: 'a', newName: '', token: 'the-token' } as const;
  await assert.rejects(storage.recover(change), /has not completed a copy/);
  state = 'failed';
  assert.equal(await storage.recover(change), null);
  assert.deepEqual(deletedPaths, ['/acme/reports/a']);
});

test('if another program has leased a blob, neither the blob nor any other part of its folder is deleted', async (t) => {
  const leasedBlob = blob('<Name>folder/a</Name>').replace('<Etag>', '<LeaseStatus>locked</LeaseStatus><Etag>');
  const { storage, requests } = await startFakeAzure(t, ({ method }, response) => {
    if (method === 'HEAD') return void response.writeHead(404).end();
    response.writeHead(method === 'PUT' ? 201 : 200).end(method === 'GET' ? listXml(leasedBlob) : '');
  });
  await assert.rejects(storage.remove(parsePath('/'), 'folder', { token: newToken() }), ChangeImpossible);
  assert.ok(!requests.some((request) => request.startsWith('DELETE') && request.includes('/folder')));
});

test('a directory in a listing reveals an account with a hierarchical namespace, even if the credentials cannot read the account properties', async (t) => {
  const directory = blob('<Name>folder</Name>').replace('<Etag>', '<ResourceType>directory</ResourceType><Etag>');
  const { storage } = await startFakeAzure(t, ({ method }, response) =>
    method === 'HEAD' ? response.writeHead(403).end() : response.end(listXml(directory)),
  );
  await assert.rejects(storage.check(), /needs hierarchicalNamespace: true/);
});

test('the token of the managed identity is cached, and fetched again five minutes before it expires', async () => {
  let [now, fetchCount] = [0, 0];
  const tokens = new MachineTokens(
    () => now,
    async () => {
      fetchCount += 1;
      return { text: `token ${fetchCount}`, expires: now + 3_600_000 };
    },
  );
  const texts = [await tokens.get(), await tokens.get()];
  now = 3_300_000;
  texts.push(await tokens.get());
  assert.deepEqual(texts, ['token 1', 'token 1', 'token 2']);
});

test('on App Service, the token of the managed identity comes from the metadata service of App Service', async (t) => {
  const { endpoint, requests } = await startFakeService(t, ({ headers }, response) => {
    if (headers['x-identity-header'] !== 'secret') return void response.writeHead(401).end();
    response.end(JSON.stringify({ access_token: 'the token', expires_on: '4000000000' }));
  });
  Object.assign(process.env, { IDENTITY_ENDPOINT: `${endpoint}/token`, IDENTITY_HEADER: 'secret' });
  atEnd(t, () => {
    delete process.env['IDENTITY_ENDPOINT'];
    delete process.env['IDENTITY_HEADER'];
  });
  assert.equal(await new MachineTokens().get(), 'the token');
  assert.match(requests[0] ?? '', /resource=https%3A%2F%2Fstorage.azure.com/);
});

test('a location with the identity of the machine is unavailable on a machine without an identity', async () => {
  const machineTokens = new MachineTokens(Date.now, () => Promise.reject(new Error('no metadata service')));
  const request = () => Promise.reject(new Error('no request may be sent'));
  const storage = openAzure({ account: 'acme', container: 'reports', useMachineCredentials: true }, { request }, { machineTokens });
  await assert.rejects(storage.check(), /no managed identity/);
});
