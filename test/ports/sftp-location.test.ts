import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { FolderListCache } from '#adapters/storage/folder-list-cache.ts';
import { PrivateKeys } from '#adapters/storage/sftp/private-key.ts';
import type { SftpSession } from '#adapters/storage/sftp/sftp-session.ts';
import { SftpStorage } from '#adapters/storage/sftp/sftp-storage.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import { StoreUnavailable } from '#ports/store.ts';
import { fieldErrorAt } from '../api/field-errors.ts';
import { missingForRcloneSftp, missingForSshd, type SftpTestServer, startRcloneSftp, startSshd } from '../parts/sftp-servers.ts';
import { checkKilledUploads } from '../resumable-uploads/check-killed-uploads.ts';
import { checkParts } from '../resumable-uploads/check-parts.ts';
import { type Json, startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { checkFileActions } from '../visit/file-actions.ts';
import { createShare, hour } from '../visit/visiting.ts';
import { checkLocationSecrets } from './check-location-secrets.ts';

const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1' };
const addLocation = async (postern: TestPostern, configuration: object) =>
  (await postern.call('location/add', { name: 'server', kind: 'sftp', configuration: JSON.stringify(configuration) })).id;
const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
const passphrase = 'a passphrase of the key';
const otherHostKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJzSdWpiBXn4ES0o0RCqm6pSuGGWxFqUAVKpZxjbQKNP';

const missing = missingForSshd();
if (missing !== '') test('SFTP locations work like locations on disk', { skip: `${missing} is missing` }, () => {});
else {
  let server: SftpTestServer;
  before(async () => {
    server = await startSshd();
  });
  const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  const sessions = new Set<SftpSession>();
  after(async () => {
    for (const session of sessions) session.close();
    await server[Symbol.asyncDispose]();
    await outbound[Symbol.asyncDispose]();
  });

  test('at an SFTP location, visitors list, upload, download, archive, rename and delete', async (t) => {
    const postern = await startPostern(t, { environment });
    await addLocation(postern, await server.newFolder());
    await checkFileActions(postern, 'server');
  });

  test('at an SFTP location, an upload in parts continues after a restart, and leaves no files behind', async (t) => {
    const configuration = await server.newFolder();
    const data = await temporaryFolder(t);
    const listStaged = async () => namesIn(join(configuration.root, '.postern'));
    await checkParts(t, { location: 'server', data, environment }, (postern) => addLocation(postern, configuration), listStaged);
  });

  test('uploads in parts to an SFTP location continue after the process was killed, and lose no acknowledged part', async (t) => {
    const configuration = await server.newFolder();
    const location = { name: 'server', kind: 'sftp', configuration: JSON.stringify(configuration) };
    const listStaged = async () => namesIn(join(configuration.root, '.postern'));
    const services = {
      outbound,
      sessions,
      keys: new PrivateKeys(),
      memory: storageMemory(),
      lists: new FolderListCache(),
      readAhead: storageMemory(),
    };
    const storage = new SftpStorage(configuration, 1, { ...services, now: () => Date.now() + 2 * hour });
    await checkKilledUploads(t, { environment, location, listStaged, sweep: () => storage.sweep(async () => []) }, 350);
  });

  test('visitors of an SFTP location see no symbolic links, and reach nothing through them', async (t) => {
    const postern = await startPostern(t, { environment });
    const configuration = await server.newFolder();
    const outside = await server.newFolder();
    writeFileSync(join(outside.root, 'secret.txt'), 'secret');
    mkdirSync(join(configuration.root, 'folder'));
    symlinkSync(outside.root, join(configuration.root, 'linked-folder'));
    symlinkSync(join(outside.root, 'secret.txt'), join(configuration.root, 'linked.txt'));
    await addLocation(postern, configuration);
    const { base } = await createShare(postern, { location: 'server' });
    const { entries } = (await postern.visit(`${base}/list`)).body;
    assert.deepEqual(
      entries.map(({ name }: Json) => name),
      ['folder'],
    );
    for (const path of ['file/linked.txt', 'file/linked-folder/secret.txt', 'list/linked-folder'])
      assert.equal((await postern.visit(`${base}/${path}`)).status, 404, path);
    const upload = { method: 'PUT', body: 'text' };
    assert.equal((await postern.visit(`${base}/file/linked-folder/new.txt`, upload)).status, 404);
    assert.deepEqual(readdirSync(outside.root), ['secret.txt']);
  });

  test('at an SFTP location, a file that has just changed cannot be replaced with If-Match and its ETag, because two versions could have this ETag', async (t) => {
    const postern = await startPostern(t, { environment });
    const configuration = await server.newFolder();
    await addLocation(postern, configuration);
    const { base } = await createShare(postern, { location: 'server' });
    const address = `${base}/file/a.txt`;
    await postern.visit(address, { method: 'PUT', body: 'first' });
    const replace = async () => {
      const etag = (await postern.visit(address, { method: 'HEAD' })).headers.get('etag') ?? '';
      const { status } = await postern.visit(address, { method: 'PUT', body: 'later', headers: { 'if-match': etag } });
      return `${status} ${etag.slice(0, 2)}`;
    };
    assert.equal(await replace(), '412 W/');
    const tenSecondsAgo = Date.now() / 1000 - 10;
    utimesSync(join(configuration.root, 'a.txt'), tenSecondsAgo, tenSecondsAgo);
    assert.equal((await replace()).slice(0, 3), '201');
    assert.equal((await postern.visit(address, { method: 'PUT', body: 'any', headers: { 'if-match': '*' } })).status, 201);
  });

  for (const isOther of [false, true])
    test(`a folder that is created again right after its deletion${isOther ? ', through another location with the same folder,' : ''} keeps its new files, although the outcome of the deletion could not be recorded`, async (t) => {
      const postern = await startPostern(t, { environment });
      const configuration = await server.newFolder();
      await addLocation(postern, configuration);
      await postern.call('location/add', { name: 'other', kind: 'sftp', configuration: JSON.stringify(configuration) });
      const { base } = await createShare(postern, { location: 'server' });
      const { base: laterBase } = await createShare(postern, { location: isOther ? 'other' : 'server' });
      const { write } = postern.ports.store;
      const send = async (from: string, method: string, path: string, body = '') =>
        (await postern.visit(`${from}/${path}`, { method, ...(body === '' ? {} : { body }) })).status;
      assert.equal(await send(base, 'POST', 'folder/box'), 201);
      assert.equal(await send(base, 'PUT', 'file/box/a.txt', 'old'), 201);
      const failing: typeof write = (...parameters) =>
        existsSync(join(configuration.root, 'box')) ? write(...parameters) : Promise.reject(new StoreUnavailable('no database'));
      const writeMock = t.mock.method(postern.ports.store, 'write', failing);
      assert.equal(await send(base, 'DELETE', 'file/box'), 503);
      writeMock.mock.restore();

      assert.equal(await send(laterBase, 'POST', 'folder/box'), 201);
      assert.equal(await send(laterBase, 'PUT', 'file/box/a.txt', 'new'), 201);
      const { list } = await postern.call('audit/search', { action: 'delete' });
      assert.deepEqual(
        list.map(({ outcome }: Json) => outcome),
        ['done'],
      );
      const { read } = postern.ports.store;
      assert.deepEqual(await read.selectFrom('unsettled').selectAll().execute(), []);
      assert.equal((await postern.visit(`${laterBase}/file/box/a.txt`)).body, 'new');
    });

  test('a server with another host key gets no credentials, and its location is unavailable', async (t) => {
    const postern = await startPostern(t, { environment });
    const configuration = await server.newFolder();
    const id = await addLocation(postern, { ...configuration, hostKey: otherHostKey });
    const { works, steps } = await postern.call('location/test', { id });
    assert.deepEqual([works, steps.at(-1).step, steps.at(-1).detail], [false, 'connect', 'the server has another host key than hostKey']);
    assert.equal((await postern.send('location/browse', { location: 'server' })).status, 503);
  });

  test('a private key with a passphrase is used, and a wrong passphrase is refused when the location is added', async (t) => {
    const postern = await startPostern(t, { environment });
    await using serverWithPassphrase = await startSshd(['-t', 'rsa', '-b', '2048', '-N', passphrase, '-a', '4']);
    const configuration = await serverWithPassphrase.newFolder();
    for (const [members, expected] of [
      [{}, /privateKey must be a private key/],
      [{ passphrase: 'another one' }, /privateKey cannot be decrypted with passphrase/],
    ] as const) {
      const body = { name: 'x', kind: 'sftp', configuration: JSON.stringify({ ...configuration, ...members }) };
      assert.match(fieldErrorAt(await postern.send('location/add', body), 'configuration'), expected);
    }
    const id = await addLocation(postern, { ...configuration, passphrase });
    assert.equal((await postern.call('location/test', { id })).works, true);
  });
}

const missingForRclone = missingForRcloneSftp();
if (missingForRclone !== '') test('an SFTP location keeps its secrets', { skip: `${missingForRclone} is missing` }, () => {});
else
  test('an SFTP location is tested, its secret is masked and never logged, and the stored secret is not sent to another server', async (t) => {
    await using server = await startRcloneSftp();
    await checkLocationSecrets(t, {
      kind: 'sftp',
      configuration: await server.newFolder(),
      secretMember: 'password',
      wrongSecret: 'another secret',
      otherServer: { host: 'other.example.com' },
    });
  });
