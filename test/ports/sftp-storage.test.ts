import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { FolderListCache } from '#adapters/storage/folder-list-cache.ts';
import { PrivateKeys } from '#adapters/storage/sftp/private-key.ts';
import type { SftpSession } from '#adapters/storage/sftp/sftp-session.ts';
import { SftpStorage } from '#adapters/storage/sftp/sftp-storage.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import type { SftpConfiguration } from '#core/records/location-configurations.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { missingForRcloneSftp, missingForSshd, type SftpTestServer, startRcloneSftp, startSshd } from '../parts/sftp-servers.ts';
import {
  changeContract,
  namesIn,
  newToken,
  parsePath,
  putFile,
  readText,
  startUpload,
  storageContract,
  uploadContract,
} from './storage.contract.ts';

const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
const sessions = new Set<SftpSession>();
after(async () => {
  for (const session of sessions) session.close();
  await outbound[Symbol.asyncDispose]();
});
const open = (configuration: SftpConfiguration, over = {}) =>
  new SftpStorage(configuration, 1, {
    outbound,
    keys: new PrivateKeys(),
    sessions,
    memory: storageMemory(),
    lists: new FolderListCache(),
    readAhead: storageMemory(),
    ...over,
  });

type Contract = (name: string, open: (t: TestContext) => Promise<SftpStorage>, newFolder: () => Promise<SftpConfiguration>) => void;

function testServer(name: string, missing: string, start: () => Promise<SftpTestServer>, contracts: readonly Contract[]): void {
  if (missing !== '') return void test(`SFTP (${name}) meets the storage contract`, { skip: `${missing} is missing` }, () => {});
  let server: SftpTestServer;
  before(async () => {
    server = await start();
  });
  after(() => server[Symbol.asyncDispose]());
  const newFolder = () => server.newFolder();
  for (const contract of contracts) contract(`SFTP (${name})`, async () => open(await newFolder()), newFolder);
}

/** Starts a relay to a port of this machine. @returns its port, and a function that cuts all its connections */
async function startRelay(t: TestContext, port: number): Promise<{ readonly port: number; readonly cut: () => void }> {
  const sockets = new Set<Socket>();
  const relay = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => to.write(bytes)).on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(() => {
    cut();
    relay.close();
  });
  const address = relay.address();
  return { port: typeof address === 'object' && address ? address.port : 0, cut };
}

/** Tests lost connections, and recovery after a crash. @param newFolder creates an empty folder at a server */
function connectionContract(name: string, _open: unknown, newFolder: () => Promise<SftpConfiguration>): void {
  test(`${name}: if a connection is lost, a read is sent again over a new connection`, async (t) => {
    const configuration = await newFolder();
    const relay = await startRelay(t, configuration.port ?? 22);
    const storage = open({ ...configuration, port: relay.port });
    await putFile(storage, '/', 'a.txt', 'text');
    relay.cut();
    assert.equal(await readText(storage, '/a.txt'), 'text');
    const listing = namesIn(storage, '/');
    relay.cut();
    assert.deepEqual(await listing, ['a.txt']);
  });

  test(`${name}: an upload whose connection is lost continues after the last synced byte`, async (t) => {
    const configuration = await newFolder();
    const relay = await startRelay(t, configuration.port ?? 22);
    const storage = open({ ...configuration, port: relay.port });
    const target = { parent: parsePath('/'), name: 'a', size: 3 << 20, ifTaken: 'refuse' } as const;
    const uploadToken = newToken();
    await (await storage.upload(target, uploadToken)).closeForRecovery();
    const first = await storage.continueUpload(target, { token: uploadToken, handle: null, offset: 0 });
    await first.write(Buffer.alloc(1 << 20, 'a'));
    await first.sync();
    relay.cut();
    await assert.rejects(first.write(Buffer.alloc(2 << 20, 'x')), StorageUnavailable);
    await first.closeForRecovery();
    const second = await storage.continueUpload(target, { token: uploadToken, handle: null, offset: 1 << 20 });
    await second.write(Buffer.alloc(2 << 20, 'b'));
    assert.equal(await second.place(), 'a');
    await second.discard();
    assert.equal(await readText(storage, '/a'), 'a'.repeat(1 << 20) + 'b'.repeat(2 << 20));
  });

  test(`${name}: recovery finds out whether a rename or a deletion took place before a crash`, async () => {
    const storage = open(await newFolder());
    for (const name of ['a', 'b', 'c', 'd']) await putFile(storage, '/', name, name);
    const changeOf = (action: 'rename' | 'delete', name: string) =>
      ({ action, parent: parsePath('/'), name, newName: `${name}2`, token: newToken() }) as const;
    const [renaming, deletion] = [changeOf('rename', 'a'), changeOf('delete', 'b')];
    await storage.rename(parsePath('/'), 'a', 'a2', { ...renaming, pendingTokens: [] }); // the evidence stays, as after a crash
    await storage.remove(parsePath('/'), 'b', deletion);
    assert.deepEqual([await storage.recover(renaming), await storage.recover(deletion)], ['a2', 'b']);
    assert.deepEqual([await storage.recover(changeOf('rename', 'c')), await storage.recover(changeOf('delete', 'd'))], [null, null]);
    for (const change of [renaming, deletion]) await storage.clearEvidence(change);
    assert.deepEqual(await namesIn(storage, '/'), ['a2', 'c', 'd']);
  });
}

testServer('OpenSSH', missingForSshd(), startSshd, [storageContract, connectionContract]);
// rclone gets only a part of the contract: it cannot continue an upload, and takes a tenth of a second for each new folder.
testServer('rclone', missingForRcloneSftp(), startRcloneSftp, [uploadContract, changeContract]);

if (missingForSshd() === '') {
  let server: SftpTestServer;
  before(async () => {
    server = await startSshd(undefined, 'internal-sftp -P posix-rename');
  });
  after(() => server[Symbol.asyncDispose]());

  test('at a server that cannot rename over a file, a file is replaced in steps, and no other files are left behind', async () => {
    const configuration = await server.newFolder();
    const storage = open(configuration);
    await putFile(storage, '/', 'a.txt', 'old');
    await putFile(storage, '/', 'a.txt', 'new', (await storage.stat(parsePath('/a.txt')))?.etag ?? '');
    assert.equal(await readText(storage, '/a.txt'), 'new');
    assert.deepEqual(readdirSync(join(configuration.root, '.postern')), []);
  });

  test('a file is not lost if the upload that should replace it disappears while that upload is put in place', async () => {
    const configuration = await server.newFolder();
    const storage = open(configuration);
    await putFile(storage, '/', 'a.txt', 'acknowledged');
    const etag = (await storage.stat(parsePath('/a.txt')))?.etag ?? '';
    const upload = await startUpload(storage, '/', 'a.txt', { etag });
    await upload.write(Buffer.from('given up'));
    const loseUpload = async () => {
      const staging = join(configuration.root, '.postern');
      for (const name of readdirSync(staging)) if (name.endsWith('-data.txt')) rmSync(join(staging, name));
    };
    await assert.rejects(upload.place(loseUpload));
    assert.equal(await readText(storage, '/a.txt'), 'acknowledged');
  });
}
