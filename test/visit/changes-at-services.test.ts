import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import { atEnd } from '../parts/at-end.ts';
import { type Azurite, hasAzurite, startAzurite } from '../parts/azurite.ts';
import { startHoldingProxy } from '../parts/holding-proxy.ts';
import { createContainer } from '../parts/open-azure.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

/** Permissions of a drop box. */
const onlyUpload = {
  canView: false,
  canDownload: false,
  canDownloadFolder: false,
  canCreateFolder: false,
  canRename: false,
  canDelete: false,
};
const skip = hasAzurite ? false : 'azurite is not installed';
let server: Azurite;
before(async () => {
  if (hasAzurite) server = await startAzurite();
});
after(() => (hasAzurite ? server[Symbol.asyncDispose]() : undefined));

/** Publishes two locations of one container: its root, and the folder `d`. @param isHeld whether a request to the service is held */
async function startAtService(t: TestContext, isHeld: (request: string) => boolean) {
  const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  atEnd(t, () => outbound[Symbol.asyncDispose]());
  const configuration = server.newConfiguration();
  await createContainer(configuration, outbound);
  const proxy = await startHoldingProxy(configuration.endpoint ?? '', ({ method, url }) =>
    isHeld(`${method} ${decodeURIComponent(url ?? '')}`),
  );
  atEnd(t, () => proxy[Symbol.asyncDispose]());
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' } });
  const addLocation = (name: string, prefix: string) =>
    postern.call('location/add', { name, kind: 'azure', configuration: JSON.stringify({ ...configuration, endpoint: proxy.url, prefix }) });
  await addLocation('root', '');
  await addLocation('inner', 'd');
  const root = (await createShare(postern, { location: 'root' })).base;
  const inner = (await createShare(postern, { location: 'inner' })).base;
  const send = async (path: string, method = 'GET', body: string | object = '') => {
    const headers = typeof body === 'object' ? { 'content-type': 'application/json' } : undefined;
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    return sendPath(postern, path, { method, body: text, ...(headers ? { headers } : {}) });
  };
  const pendingCount = async () => (await postern.ports.store.read.selectFrom('unsettled').select('token').execute()).length;
  return { proxy, postern, root, inner, send, pendingCount };
}

test('a rename of a folder at a service waits until an upload into the folder has put its file in place, and moves the file too', {
  skip,
}, async (t) => {
  const { proxy, root, send, pendingCount } = await startAtService(t, (request) => /^PUT .*\/d\/file\b/.test(request));
  assert.equal((await send(`${root}/folder/d`, 'POST')).status, 201);
  const upload = send(`${root}/file/d/file`, 'PUT', 'content');
  await proxy.held;
  let isRenamed = false;
  const rename = send(`${root}/rename`, 'POST', { path: '/d', name: 'e' }).finally(() => {
    isRenamed = true;
  });
  await until(async () => (await pendingCount()) === 2);
  for (const name of ['one', 'two', 'three']) assert.equal((await send(`${root}/folder/${name}`, 'POST')).status, 201);
  assert.equal(isRenamed, false);
  proxy.release();
  assert.deepEqual([(await upload).status, (await rename).status], [201, 200]);
  assert.equal((await send(`${root}/file/e/file`)).text, 'content');
});

test('while a folder at a service is renamed, changes in the folder are refused: at its old name, at its new name, and through another location', {
  skip,
}, async (t) => {
  const { proxy, root, inner, send } = await startAtService(t, (request) => /^PUT .*\/e\/b\b/.test(request));
  assert.equal((await send(`${root}/folder/d`, 'POST')).status, 201);
  for (const name of ['a', 'b']) assert.equal((await send(`${root}/file/d/${name}`, 'PUT', name)).status, 201);
  const rename = send(`${root}/rename`, 'POST', { path: '/d', name: 'e' });
  await proxy.held;
  for (const path of [`${inner}/file/a`, `${root}/file/d/a`, `${root}/file/e/a`]) {
    const { status, json } = await send(path, 'DELETE');
    assert.ok(status === 503 && json.code === 'changesBusy', `${path} ${status}`);
  }
  proxy.release();
  assert.equal((await rename).status, 200);
  for (const name of ['a', 'b']) assert.equal((await send(`${root}/file/e/${name}`)).text, name);
});

test('while a drop box stores a file under another name, nobody else can upload a file with that name', { skip }, async (t) => {
  let heldUploads = 0;
  const { proxy, postern, root, send, pendingCount } = await startAtService(t, (request) => {
    if (!/^PUT .*\/a \(2\)\.txt\b/.test(request)) return false;
    heldUploads += 1;
    return true;
  });
  const onlyUpload = {
    canView: false,
    canDownload: false,
    canDownloadFolder: false,
    canCreateFolder: false,
    canRename: false,
    canDelete: false,
  };
  const box = (await createShare(postern, { location: 'root', ...onlyUpload })).base;
  assert.equal((await send(`${box}/file/a.txt`, 'PUT', 'one')).status, 201);
  const numbered = send(`${box}/file/a.txt`, 'PUT', 'two');
  await proxy.held;
  const named = send(`${root}/file/a%20(2).txt`, 'PUT', 'three');
  await until(async () => (await pendingCount()) === 2);
  for (const name of ['x', 'y', 'z']) assert.equal((await send(`${root}/folder/${name}`, 'POST')).status, 201);
  assert.equal(heldUploads, 1);
  const rows = await postern.ports.store.read.selectFrom('unsettled').select('name').execute();
  assert.deepEqual(new Set(rows.map(({ name }) => name)), new Set(['a (2).txt'])); // so a later change finds the upload, also after a crash
  proxy.release();
  assert.deepEqual([(await numbered).status, (await named).status], [201, 409]);
  assert.equal((await send(`${root}/file/a%20(2).txt`)).text, 'two');
});

test('a file that a drop box receives while its folder is renamed at a service does not bring the old folder back', { skip }, async (t) => {
  const { proxy, postern, root, send, pendingCount } = await startAtService(t, (request) => /^PUT .*\/e\/b\b/.test(request));
  assert.equal((await send(`${root}/folder/d`, 'POST')).status, 201);
  assert.equal((await send(`${root}/file/d/b`, 'PUT', 'b')).status, 201);
  const box = (await createShare(postern, { location: 'root', path: '/d', ...onlyUpload })).base;
  const rename = send(`${root}/rename`, 'POST', { path: '/d', name: 'e' });
  await proxy.held;
  const upload = send(`${box}/file/new.txt`, 'PUT', 'new');
  await until(async () => (await pendingCount()) === 2);
  for (const name of ['x', 'y', 'z']) assert.equal((await send(`${root}/folder/${name}`, 'POST')).status, 201);
  proxy.release();
  assert.deepEqual([(await rename).status, (await upload).status], [200, 404]);
  assert.equal((await send(`${root}/list/d`)).status, 404);
});
