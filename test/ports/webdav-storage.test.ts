import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { FolderListCache } from '#adapters/storage/folder-list-cache.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { WebdavStorage } from '#adapters/storage/webdav/webdav-storage.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import type { WebdavConfiguration } from '#core/records/location-configurations.ts';
import { ChangeImpossible, StorageUnavailable } from '#ports/storage-errors.ts';
import { type ApacheWebdav, startApacheWebdav } from '../parts/apache-webdav.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { partSpace, uploadSpool } from '../parts/open-s3.ts';
import { missingForNginxWebdav, startNginxWebdav, startRcloneWebdav, type WebdavTestServer } from '../parts/webdav-servers.ts';
import { namesIn, newToken, parsePath, putFile, readText, storageContract } from './storage.contract.ts';

const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
const open = (configuration: WebdavConfiguration, over = {}) =>
  new WebdavStorage(configuration, 1, {
    outbound,
    parts: partSpace(),
    spool: uploadSpool(),
    memory: storageMemory(),
    lists: new FolderListCache(),
    ...over,
  });

function testServer(name: string, start: () => Promise<WebdavTestServer>): void {
  let server: WebdavTestServer;
  before(async () => {
    server = await start();
  });
  after(() => server[Symbol.asyncDispose]());
  storageContract(`WebDAV (${name})`, async (_t: TestContext) => open(await server.newFolder()));
}

after(() => outbound[Symbol.asyncDispose]());

if (!isInstalled('apache2')) test('WebDAV meets the storage contract', { skip: 'apache2 is not installed' }, () => {});
else {
  let server: ApacheWebdav;
  before(async () => {
    server = await startApacheWebdav();
  });
  after(() => server[Symbol.asyncDispose]());
  storageContract('WebDAV (apache)', async (_t: TestContext) => open(await server.newFolder()));

  /** A clock that is two hours ahead: nothing in the staging area is too young for the sweep. */
  const clockAhead = { now: () => Date.now() + 2 * 3_600_000 };

  test('WebDAV (apache): a location with a wrong folder is unavailable, and its files are not reported as absent', async () => {
    const storage = open({ ...(await server.newFolder()), root: 'none' });
    await assert.rejects(storage.check(), StorageUnavailable);
    const change = { action: 'upload', parent: parsePath('/'), name: 'a', newName: '', token: newToken() } as const;
    await assert.rejects(storage.recover(change), StorageUnavailable);
  });

  test('WebDAV (apache): a visitor can give no file or folder the name of a file with which a server configures itself', async () => {
    const storage = open(await server.newFolder());
    const root = parsePath('/');
    const context = () => ({ token: newToken(), pendingTokens: [] });
    await putFile(storage, '/', 'a', 'text');
    for (const name of ['.htaccess', '.HTpasswd', 'web.config', 'Web.config.']) {
      await assert.rejects(putFile(storage, '/', name, 'text'), ChangeImpossible);
      await assert.rejects(storage.createFolder(root, name, context()), ChangeImpossible);
      await assert.rejects(storage.rename(root, 'a', name, context()), ChangeImpossible);
    }
    assert.deepEqual(await namesIn(storage, '/'), ['a']);
  });

  test('WebDAV (apache): recovery finds out whether a rename or a deletion took place before a crash', async () => {
    const storage = open(await server.newFolder());
    for (const name of ['a', 'b', 'c', 'd']) await putFile(storage, '/', name, name);
    const parent = parsePath('/');
    const changeOf = (action: 'rename' | 'delete', name: string) =>
      ({ action, parent, name, newName: `${name}2`, token: newToken() }) as const;
    const renameChange = changeOf('rename', 'a');
    await storage.rename(parent, 'a', 'a2', { ...renameChange, pendingTokens: [] }); // the evidence stays, as after a crash
    const deletion = changeOf('delete', 'b');
    await storage.remove(parent, 'b', deletion);
    assert.equal(await storage.recover(renameChange), 'a2');
    assert.equal(await storage.recover(deletion), 'b');
    assert.equal(await storage.recover(changeOf('rename', 'c')), null);
    assert.equal(await storage.recover(changeOf('delete', 'd')), null);
    for (const change of [renameChange, deletion]) await storage.clearEvidence(change);
    assert.deepEqual(await namesIn(storage, '/'), ['a2', 'c', 'd']);
  });

  test('WebDAV (apache): an interrupted upload to a drop box is recovered under the name that it got', async () => {
    const storage = open(await server.newFolder());
    await putFile(storage, '/', 'a.txt', 'first');
    const change = { action: 'upload', parent: parsePath('/'), name: 'a.txt', newName: '', token: newToken() } as const;
    const upload = await storage.upload({ parent: change.parent, name: 'a.txt', size: null, ifTaken: 'number' }, change.token);
    await upload.write(Buffer.from('second'));
    assert.equal(await upload.place(), 'a (2).txt');
    assert.equal(await storage.recover(change), 'a (2).txt');
    await storage.clearEvidence(change);
    assert.equal(await readText(storage, '/a (2).txt'), 'second');
  });

  test('WebDAV (apache): the sweep deletes old evidence, and keeps recent evidence and that of pending changes', async () => {
    const configuration = await server.newFolder();
    const staging = () => readdirSync(join(server.folder, configuration.root ?? '', '.postern'));
    const upload = await open(configuration).upload({ parent: parsePath('/'), name: 'a', size: 1, ifTaken: 'refuse' }, 'token-of-another');
    await upload.write(Buffer.from('a'));
    await upload.sync();
    await open(configuration).sweep(async () => []); // recent evidence stays: it may belong to another installation
    await open(configuration, clockAhead).sweep(async () => ['token-of-another']);
    assert.deepEqual(staging(), ['token-of-another-data.txt']);
    await open(configuration, clockAhead).sweep(async () => []);
    assert.deepEqual(staging(), []);
  });
}

const missingForNginx = missingForNginxWebdav();
if (missingForNginx !== '') test('WebDAV (nginx) meets the storage contract', { skip: `${missingForNginx} is not installed` }, () => {});
else testServer('nginx', startNginxWebdav);
if (!isInstalled('rclone')) test('WebDAV (rclone) meets the storage contract', { skip: 'rclone is not installed' }, () => {});
else testServer('rclone', startRcloneWebdav);
