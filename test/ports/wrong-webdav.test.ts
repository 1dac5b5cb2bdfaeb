import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { FolderListCache } from '#adapters/storage/folder-list-cache.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { WebdavStorage } from '#adapters/storage/webdav/webdav-storage.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import type { WebdavConfiguration } from '#core/records/location-configurations.ts';
import { ChangeImpossible, OutcomeUnknown, StorageFull, StorageUnavailable } from '#ports/storage-errors.ts';
import { atEnd } from '../parts/at-end.ts';
import { type FakeResponder, startFakeService } from '../parts/fake-service.ts';
import { partSpace, uploadSpool } from '../parts/open-s3.ts';
import { namesIn, newToken, parsePath } from './storage.contract.ts';

/** Starts a fake WebDAV server. @returns a storage in it, and the requests that it received */
async function startFakeServer(t: TestContext, answer: FakeResponder, over: Partial<WebdavConfiguration> = {}, now = Date.now) {
  const { endpoint, requests } = await startFakeService(t, answer);
  const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  atEnd(t, () => outbound[Symbol.asyncDispose]());
  const services = { outbound, parts: partSpace(), spool: uploadSpool(), memory: storageMemory(), lists: new FolderListCache(), now };
  return { storage: new WebdavStorage({ url: `${endpoint}/dav`, ...over }, 1, services), requests };
}

const folderProperties = '<d:resourcetype><d:collection/></d:resourcetype>';
const fileProperties =
  '<d:resourcetype/><d:getcontentlength>4</d:getcontentlength><d:getlastmodified>Thu, 01 Jan 2026 00:00:00 GMT</d:getlastmodified>';
const responseXml = (href: string, properties: string) =>
  `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${properties}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`;
const multistatus = (...responses: string[]) => `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">${responses.join('')}</d:multistatus>`;
const context = () => ({ token: newToken(), pendingTokens: [] });

test('a WebDAV server may list entries by URL or by path, in any order, and include the folder itself', async (t) => {
  const { storage } = await startFakeServer(t, ({ headers }, response) => {
    const host = `http://${headers.host}/dav`;
    response
      .writeHead(207)
      .end(
        multistatus(
          responseXml(`${host}/b%20c/`, folderProperties),
          responseXml('/dav/a%26b.txt', fileProperties),
          responseXml(`${host}/`, folderProperties),
        ),
      );
  });
  assert.deepEqual(await namesIn(storage, '/'), ['a&b.txt', 'b c']);
});

test('entries of a WebDAV server with a slash, .., .postern, a broken encoding or another folder are not listed', async (t) => {
  const names = ['a%2Fb', '..', '%2e%2e', '.postern', '%ff', 'good'];
  const { storage } = await startFakeServer(t, (_, response) =>
    response
      .writeHead(207)
      .end(
        multistatus(
          responseXml('/dav/', folderProperties),
          ...names.map((name) => responseXml(`/dav/${name}`, fileProperties)),
          responseXml('/other/x', fileProperties),
        ),
      ),
  );
  assert.deepEqual(await namesIn(storage, '/'), ['good']);
});

/** Returns a fake server that keeps names and texts in memory. @param onMove returns true if it has handled the MOVE itself */
function memoryServer(
  onMove: (move: { from: string; to: string; overwrites: boolean }, items: Map<string, string>, response: ServerResponse) => boolean,
) {
  const items = new Map<string, string>();
  const answer: FakeResponder = ({ method = '', url = '', headers }, response, body) => {
    const path = decodeURIComponent(url).replace(/\/$/, '');
    if (method === 'PROPFIND') {
      const text = items.get(path);
      if (path !== '/dav' && text === undefined) return void response.writeHead(404).end();
      const properties = text === undefined || text === '/' ? folderProperties : fileProperties.replace('>4<', `>${text.length}<`);
      return void response.writeHead(207).end(multistatus(responseXml(url, properties)));
    }
    if (method === 'GET') return void (items.has(path) ? response.end(items.get(path)) : response.writeHead(404).end());
    if (method === 'PUT' || method === 'MKCOL') items.set(path, method === 'PUT' ? body : '/');
    if (method === 'DELETE') items.delete(path);
    if (method !== 'MOVE') return void response.writeHead(201).end();
    const to = decodeURIComponent(new URL(String(headers.destination)).pathname).replace(/\/$/, '');
    const move = { from: path, to, overwrites: headers.overwrite === 'T' };
    if (onMove(move, items, response)) return;
    if (!items.has(path)) return void response.writeHead(404).end();
    if (items.has(to) && !move.overwrites) return void response.writeHead(412).end();
    items.set(to, items.get(path) ?? '');
    items.delete(path);
    response.writeHead(201).end();
  };
  return { items, answer };
}

async function startReplacement(storage: WebdavStorage, uploadToken: string, etag: string) {
  const upload = await storage.upload({ parent: parsePath('/'), name: 'doc', size: 3, ifTaken: { replaces: etag } }, uploadToken);
  await upload.write(Buffer.from('new'));
  return upload;
}

for (const [what, status] of [
  ['refuses the move', 423],
  ['loses the connection', null],
] as const)
  test(`a file is replaced although the WebDAV server deletes the old one, then ${what}`, async (t) => {
    let isFirst = true;
    const { items, answer } = memoryServer(({ to, overwrites }, serverItems, response) => {
      if (!overwrites || !isFirst) return false;
      isFirst = false;
      serverItems.delete(to);
      if (status === null) response.socket?.destroy();
      else response.writeHead(status).end();
      return true;
    });
    items.set('/dav/doc', 'old');
    const { storage } = await startFakeServer(t, answer);
    const upload = await startReplacement(storage, newToken(), (await storage.stat(parsePath('/doc')))?.etag ?? '');
    assert.equal(await upload.place(), 'doc');
    await upload.discard();
    assert.deepEqual(
      [...items],
      [
        ['/dav/doc', 'new'],
        ['/dav/.postern', '/'],
      ].sort(),
    );
  });

/** Checks that recovery completes a replacement of `doc` that the server has not completed. @param repair makes moves succeed again */
async function checkRecoveredReplacement(
  t: TestContext,
  { items, answer }: Pick<ReturnType<typeof memoryServer>, 'items' | 'answer'>,
  repair: () => void,
): Promise<void> {
  let timeShift = 0; // ms
  const { storage } = await startFakeServer(t, answer, {}, () => Date.now() + timeShift);
  const change = { action: 'upload', parent: parsePath('/'), name: 'doc', newName: '', token: newToken() } as const;
  const upload = await startReplacement(storage, change.token, (await storage.stat(parsePath('/doc')))?.etag ?? '');
  await assert.rejects(upload.place(), OutcomeUnknown);
  await upload.closeForRecovery();
  repair();
  await assert.rejects(storage.recover(change), /may still be moving/);
  timeShift = 700_000;
  assert.equal(await storage.recover(change), 'doc');
  assert.equal(items.get('/dav/doc'), 'new');
}

test('recovery completes a replacement that the WebDAV server began and never completed', async (t) => {
  const { items, answer } = memoryServer(({ to }, serverItems, response) => {
    if (isRepaired) return false;
    serverItems.delete(to);
    response.writeHead(500).end();
    return true;
  });
  let isRepaired = false;
  items.set('/dav/doc', 'old');
  await checkRecoveredReplacement(t, { items, answer }, () => {
    isRepaired = true;
  });
});

test('a move that a WebDAV server completes without sending a response counts as done', async (t) => {
  const { items, answer } = memoryServer(({ from, to }, serverItems, response) => {
    serverItems.set(to, serverItems.get(from) ?? '');
    serverItems.delete(from);
    response.socket?.destroy();
    return true;
  });
  items.set('/dav/old', 'text');
  const { storage } = await startFakeServer(t, answer);
  await storage.rename(parsePath('/'), 'old', 'new', context());
  assert.equal(items.get('/dav/new'), 'text');
});

test('the outcome of a move that a WebDAV server completes only in part is unknown, and the move is not repeated', async (t) => {
  let moves = 0;
  const { items, answer } = memoryServer((_, __, response) => {
    moves += 1;
    response.writeHead(207).end(multistatus());
    return true;
  });
  items.set('/dav/old', '/');
  const { storage } = await startFakeServer(t, answer);
  await assert.rejects(storage.rename(parsePath('/'), 'old', 'new', context()), OutcomeUnknown);
  assert.equal(moves, 1);
});

test('if a move gets no response and the listing after it breaks off, its outcome is unknown, and its evidence stays', async (t) => {
  let hasMoved = false;
  const { items, answer } = memoryServer((_, __, response) => {
    hasMoved = true;
    response.socket?.destroy();
    return true;
  });
  items.set('/dav/old', 'text');
  const { storage } = await startFakeServer(t, (request, response, body) => {
    if (!hasMoved || request.method !== 'PROPFIND') return answer(request, response, body);
    response.writeHead(207);
    response.write('<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">', () => response.destroy());
  });
  await assert.rejects(storage.rename(parsePath('/'), 'old', 'new', context()), OutcomeUnknown);
  assert.ok([...items.keys()].some((name) => name.endsWith('-begun.txt')));
});

test('recovery of a deletion keeps a file that was created under the same name later', async (t) => {
  const { items, answer } = memoryServer(() => false);
  items.set('/dav/doc', 'old');
  let timeShift = 0; // ms
  const { storage } = await startFakeServer(t, answer, {}, () => Date.now() + timeShift);
  const change = { action: 'delete', parent: parsePath('/'), name: 'doc', newName: '', token: newToken() } as const;
  await storage.remove(change.parent, 'doc', change);
  items.set('/dav/doc', 'another');
  timeShift = 700_000;
  assert.equal(await storage.recover(change), 'doc');
  await storage.clearEvidence(change);
  assert.deepEqual(
    [...items],
    [
      ['/dav/.postern', '/'],
      ['/dav/doc', 'another'],
    ],
  );
});

test('recovery completes a replacement of which a WebDAV server has copied only a part', async (t) => {
  const { items, answer } = memoryServer(({ to }, serverItems, response) => {
    if (isRepaired) return false;
    serverItems.set(to, 'n'); // a part of the copy
    response.writeHead(504).end();
    return true;
  });
  let isRepaired = false;
  items.set('/dav/doc', 'the old one');
  await checkRecoveredReplacement(t, { items, answer }, () => {
    isRepaired = true;
  });
});

test('recovery does not count a rename as done if somebody else has given the file another name', async (t) => {
  const { items, answer } = memoryServer((_, __, response) => {
    if (isRepaired) return false;
    response.writeHead(500).end();
    return true;
  });
  let isRepaired = false;
  items.set('/dav/old', 'text');
  const { storage } = await startFakeServer(t, answer);
  const change = { action: 'rename', parent: parsePath('/'), name: 'old', newName: 'new', token: newToken() } as const;
  await assert.rejects(storage.rename(change.parent, 'old', 'new', { ...change, pendingTokens: [] }), OutcomeUnknown);
  isRepaired = true;
  await storage.rename(parsePath('/'), 'old', 'elsewhere', context());
  assert.equal(await storage.recover(change), null);
});

test('if a WebDAV server refuses the new name, the rename fails with ChangeImpossible and leaves no evidence', async (t) => {
  const { items, answer } = memoryServer((_, __, response) => {
    response.writeHead(400).end();
    return true;
  });
  items.set('/dav/old', 'text');
  const { storage } = await startFakeServer(t, answer);
  await assert.rejects(storage.rename(parsePath('/'), 'old', 'CON', context()), ChangeImpossible);
  assert.deepEqual([...items.keys()], ['/dav/old', '/dav/.postern']);
});

test('a WebDAV server behind a proxy gets the destination without a host if it refuses the destination with a host', async (t) => {
  const destinations: string[] = [];
  const { items, answer } = memoryServer(() => false);
  const { storage } = await startFakeServer(t, (request, response, body) => {
    const { destination } = request.headers;
    if (request.method === 'MOVE') destinations.push(String(destination));
    if (String(destination).startsWith('http')) return void response.writeHead(502).end();
    if (destination) request.headers['destination'] = `http://${request.headers.host}${destination}`;
    answer(request, response, body);
  });
  items.set('/dav/old', 'text');
  await storage.rename(parsePath('/'), 'old', 'new', context());
  assert.equal(items.get('/dav/new'), 'text');
  assert.deepEqual(destinations.at(-1), '/dav/new');
});

test('an empty file of a WebDAV server is opened without a GET request', async (t) => {
  const { storage, requests } = await startFakeServer(t, ({ url = '' }, response) =>
    response.writeHead(207).end(multistatus(responseXml(url, fileProperties.replace('>4<', '>0<')))),
  );
  assert.equal((await storage.open(parsePath('/empty')))?.content?.length, 0);
  assert.ok(requests.every((request) => request.startsWith('PROPFIND')));
});

test('a WebDAV server that ignores ranges sends no wrong bytes to visitors', async (t) => {
  const { storage } = await startFakeServer(t, ({ method, url = '' }, response) => {
    if (method === 'GET') return void response.end('text');
    response.writeHead(207).end(multistatus(responseXml(url, fileProperties)));
  });
  await assert.rejects(storage.open(parsePath('/a')), StorageUnavailable);
});

test('a full WebDAV server is reported as a full storage', async (t) => {
  const { storage } = await startFakeServer(t, ({ method, url = '' }, response) => {
    if (method === 'PROPFIND') return void response.writeHead(207).end(multistatus(responseXml(url, folderProperties)));
    response.writeHead(method === 'PUT' ? 507 : 201).end();
  });
  const upload = await storage.upload({ parent: parsePath('/'), name: 'a', size: 4, ifTaken: 'refuse' }, newToken());
  await upload.write(Buffer.from('text'));
  await assert.rejects(upload.sync(), StorageFull);
  await upload.discard();
});

test('an HTML page does not count as a folder of a WebDAV server', async (t) => {
  const { storage } = await startFakeServer(t, (_, response) => response.writeHead(207).end('<html><body>Maintenance</body></html>'));
  await assert.rejects(storage.check(), StorageUnavailable);
});

test('no credentials are sent before a WebDAV server requests them, and Digest is used if the server offers Basic and Digest', async (t) => {
  const authorizations: string[] = [];
  let nonce = 0;
  const answer: FakeResponder = ({ headers, url = '' }, response) => {
    const { authorization = '' } = headers;
    authorizations.push(authorization);
    nonce += 1;
    if (!authorization.startsWith('Digest ')) {
      const challenge = `Basic realm="files", Digest realm="files", nonce="n${nonce}", qop="auth,auth-int", algorithm=SHA-256`;
      return void response.writeHead(401, { 'www-authenticate': challenge }).end();
    }
    response.writeHead(207).end(multistatus(responseXml(url, folderProperties)));
  };
  const { storage } = await startFakeServer(t, answer, { username: 'ann', password: 'secret' });
  await storage.check();
  assert.equal(authorizations[0], '');
  assert.match(
    authorizations[1] ?? '',
    /^Digest username="ann", realm="files", nonce="n1", uri="\/dav\/", response="[0-9a-f]{64}", algorithm=SHA-256, qop=auth,/,
  );
  assert.ok(!authorizations.join().includes('Basic'));
});

test('a check of a WebDAV server that refuses the credentials sends at most four requests', async (t) => {
  let nonce = 0;
  const refuse: FakeResponder = (_, response) => {
    nonce += 1;
    response.writeHead(401, { 'www-authenticate': `Digest realm="files", nonce="${nonce}", qop="auth"` }).end();
  };
  const { storage, requests } = await startFakeServer(t, refuse, { username: 'ann', password: 'wrong' });
  await assert.rejects(storage.check(), /password or the token is wrong/);
  assert.ok(requests.length <= 4, requests.join());
});
