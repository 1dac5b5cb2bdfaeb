import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import type { AzureConfiguration } from '#core/records/location-configurations.ts';
import type { Outbound } from '#ports/outbound.ts';
import type { Storage } from '#ports/storage.ts';
import { ItemArchived, ItemChanged, ItemExists, OutcomeUnknown, StorageUnavailable } from '#ports/storage-errors.ts';
import { type Azurite, hasAzurite, startAzurite } from '../parts/azurite.ts';
import { freePort } from '../parts/free-port.ts';
import { createContainer, openAzure, openTestContainer } from '../parts/open-azure.ts';
import { checkKilledUploads } from '../resumable-uploads/check-killed-uploads.ts';
import { checkParts } from '../resumable-uploads/check-parts.ts';
import { startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { checkFileActions } from '../visit/file-actions.ts';
import { checkLocationSecrets } from './check-location-secrets.ts';
import {
  createFolder,
  namesIn,
  newToken,
  parsePath,
  putFile,
  readText,
  removeItem,
  renameItem,
  storageContract,
} from './storage.contract.ts';

const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });

/** Returns a SAS token that is valid for an hour (Azure documentation, "Create a service SAS"). @param permissions such as `rwdl` */
function sasOf({ container, accountKey = '', endpoint = '' }: AzureConfiguration, permissions: string): string {
  const account = new URL(endpoint).pathname.slice(1);
  const expiry = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+/, '');
  const version = '2021-12-02';
  const textToSign = [permissions, '', expiry, `/blob/${account}/${container}`, '', '', '', version, 'c', '', '', '', '', '', '', ''].join(
    '\n',
  );
  const sig = createHmac('sha256', Buffer.from(accountKey, 'base64')).update(textToSign).digest('base64');
  return new URLSearchParams({ sp: permissions, se: expiry, sv: version, sr: 'c', sig }).toString();
}

if (!hasAzurite) test('Azure Blob Storage meets the storage contract', { skip: 'azurite is not installed' }, () => {});
else {
  let server: Azurite;
  before(async () => {
    server = await startAzurite();
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await outbound[Symbol.asyncDispose]();
  });
  /** A clock that is two hours ahead: the sweep keeps evidence for an hour, but the received bytes of unfinished uploads for 26 hours. */
  const clockAhead = { now: () => Date.now() + 2 * 3_600_000 };
  async function newContainer(): Promise<AzureConfiguration> {
    const configuration = server.newConfiguration();
    await createContainer(configuration, outbound);
    return configuration;
  }
  storageContract('Azure (azurite)', async (_t: TestContext) =>
    openAzure({ ...(await newContainer()), prefix: 'shared/files' }, outbound, clockAhead),
  );

  test('Azure (azurite): a location with a wrong container or a wrong key is unavailable, and the error says which is wrong', async () => {
    const configuration = await newContainer();
    for (const [wrongField, reason] of [
      [{ container: 'none' }, /there is no such container/],
      [{ accountKey: 'd3Jvbmc=' }, /the credentials are wrong/],
    ] as const) {
      const storage = openAzure({ ...configuration, ...wrongField }, outbound);
      await assert.rejects(storage.check(), reason);
      await assert.rejects(storage.stat(parsePath('/file')), StorageUnavailable);
    }
  });

  test('Azure (azurite): if the service does not respond to a change, the outcome of the change is unknown', async () => {
    const unreachable = { ...(await newContainer()), endpoint: `http://127.0.0.1:${await freePort()}/postern` };
    await assert.rejects(openAzure(unreachable, outbound).check(), StorageUnavailable);
    const request: Outbound['request'] = (url, options) =>
      options?.method === 'PUT' ? Promise.reject(new Error('no response')) : outbound.request(url, options);
    const container = openTestContainer(await newContainer(), { request });
    await assert.rejects(container.send('PUT', 'key', { body: 'text' }), OutcomeUnknown);
  });

  test('Azure (azurite): a SAS token instead of the account key allows all changes', async () => {
    const { accountKey = '', ...configuration } = await newContainer();
    const sasToken = sasOf({ ...configuration, accountKey }, 'rwdl');
    const storage = openAzure({ ...configuration, sasToken: `?${sasToken}` }, outbound);
    await createFolder(storage, parsePath('/'), 'folder');
    await putFile(storage, '/folder', 'a', 'text');
    await renameItem(storage, parsePath('/'), 'folder', 'renamed');
    assert.equal(await readText(storage, '/renamed/a'), 'text');
    await removeItem(storage, parsePath('/'), 'renamed');
    assert.deepEqual(await namesIn(storage, '/'), []);
    assert.equal(storage.signedAddress, null, 'a signed address would reveal the token');
  });

  test('Azure (azurite): a file that another program creates or replaces during an upload stays', async () => {
    const configuration = await newContainer();
    const [container, storage] = [openTestContainer(configuration, outbound), openAzure(configuration, outbound)];
    const write = (key: string) =>
      container.sendAndRead('PUT', key, { headers: { 'x-ms-blob-type': 'BlockBlob' }, body: 'by another program' });
    for (const size of [5, null]) {
      const names = { new: `new ${size}`, replaced: `replaced ${size}` };
      await putFile(storage, '/', names.replaced, 'before');
      const etag = (await storage.stat(parsePath(`/${names.replaced}`)))?.etag ?? '';
      for (const target of [
        { name: names.new, ifTaken: 'refuse' },
        { name: names.replaced, ifTaken: { replaces: etag } },
      ] as const) {
        let hasWritten = false;
        // The other program writes between the check of the name and the request that stores the file.
        const request: Outbound['request'] = async (url, options) => {
          const isPlacing = options?.method === 'PUT' && !url.search.includes('comp=block&');
          if (isPlacing && url.pathname.endsWith(`/${encodeURIComponent(target.name)}`) && !hasWritten) {
            hasWritten = true;
            await write(target.name);
          }
          return outbound.request(url, options);
        };
        const upload = await openAzure(configuration, { request }).upload({ ...target, parent: parsePath('/'), size }, newToken());
        await upload.write(Buffer.from('after'));
        await assert.rejects(upload.place(), target.ifTaken === 'refuse' ? ItemExists : ItemChanged);
        await upload.discard();
        assert.equal(await readText(storage, `/${target.name}`), 'by another program');
      }
    }
  });

  test('Azure (azurite): blobs whose names are not valid paths are not listed, and are deleted with their folder', async () => {
    const configuration = await newContainer();
    const [container, storage] = [openTestContainer(configuration, outbound), openAzure(configuration, outbound)];
    for (const key of ['tree/a//b', 'tree/a & <b>', 'tree/50% +ä'])
      await container.sendAndRead('PUT', key, { headers: { 'x-ms-blob-type': 'BlockBlob' }, body: 'x' });
    assert.deepEqual(await namesIn(storage, '/tree'), ['50% +ä', 'a', 'a & <b>']);
    assert.deepEqual(await namesIn(storage, '/tree/a'), []);
    await removeItem(storage, parsePath('/'), 'tree');
    assert.equal(await storage.stat(parsePath('/tree')), null);
  });

  test('Azure (azurite): a renamed file keeps its type and its metadata', async () => {
    const configuration = await newContainer();
    const [container, storage] = [openTestContainer(configuration, outbound), openAzure(configuration, outbound)];
    const headers = { 'x-ms-blob-type': 'BlockBlob', 'x-ms-blob-content-type': 'text/x-special', 'x-ms-meta-author': 'ann' };
    await container.sendAndRead('PUT', 'old', { headers, body: 'text' });
    await renameItem(storage, parsePath('/'), 'old', 'new');
    const { headers: newHeaders } = await container.sendAndRead('HEAD', 'new');
    assert.deepEqual([newHeaders['content-type'], newHeaders['x-ms-meta-author']], ['text/x-special', 'ann']);
  });

  test('Azure (azurite): recovery completes the rename of a folder if all files were copied', async () => {
    const configuration = await newContainer();
    const storage = openAzure(configuration, outbound);
    await createFolder(storage, parsePath('/'), 'old');
    for (const name of ['a', 'b']) await putFile(storage, '/old', name, name);
    const change = { action: 'rename', parent: parsePath('/'), name: 'old', newName: 'new', token: newToken() } as const;
    const request: Outbound['request'] = (url, options) =>
      options?.method === 'DELETE' ? Promise.reject(new Error('killed')) : outbound.request(url, options);
    const killedStorage: Storage = openAzure(configuration, { request });
    await assert.rejects(killedStorage.rename(change.parent, 'old', 'new', { ...change, pendingTokens: [] }), OutcomeUnknown);
    assert.equal(await storage.recover(change), 'new');
    await storage.clearEvidence(change);
    assert.deepEqual([await namesIn(storage, '/'), await namesIn(storage, '/new')], [['new'], ['a', 'b']]);
  });

  test('Azure (azurite): a rename that another process has undone just before its decision deletes no original', async () => {
    const storage = openAzure(await newContainer(), outbound, clockAhead);
    await createFolder(storage, parsePath('/'), 'old');
    await putFile(storage, '/old', 'a', 'text');
    const change = { action: 'rename', parent: parsePath('/'), name: 'old', newName: 'new', token: newToken() } as const;
    let confirmations = 0;
    const confirm = async () => {
      confirmations += 1;
      if (confirmations === 2) await storage.recover(change); // this process is suspended just after the confirmation
      if (confirmations > 2) throw new StorageUnavailable('another process has recovered the change');
    };
    await assert.rejects(storage.rename(change.parent, 'old', 'new', { ...change, confirm, pendingTokens: [] }), /another process/);
    assert.equal(await readText(storage, '/old/a'), 'text');
  });

  test('Azure (azurite): a file in the archive tier is listed, and opening or renaming it fails because it is archived', async () => {
    const configuration = await newContainer();
    const [container, storage] = [openTestContainer(configuration, outbound), openAzure(configuration, outbound)];
    await putFile(storage, '/', 'old', 'text');
    await container.sendAndRead('PUT', 'old', { query: { comp: 'tier' }, headers: { 'x-ms-access-tier': 'Archive' } });
    assert.deepEqual(await namesIn(storage, '/'), ['old']);
    assert.equal((await storage.stat(parsePath('/old')))?.mayNeedRestore, true);
    await assert.rejects(storage.open(parsePath('/old')), ItemArchived);
    await assert.rejects(renameItem(storage, parsePath('/'), 'old', 'new'), ItemArchived);
  });

  test('a file can be downloaded at the signed address of Azure until the address expires', async () => {
    const storage = openAzure(await newContainer(), outbound);
    const name = "a+b c's ü(1).txt";
    await putFile(storage, '/', name, 'content');
    const headers = { contentType: 'text/plain', contentDisposition: 'attachment; filename="a.txt"' };
    const response = await fetch((await storage.signedAddress?.(parsePath(`/${name}`), headers, 60)) ?? '');
    assert.deepEqual([response.status, await response.text()], [200, 'content']);
    assert.equal(response.headers.get('content-disposition'), headers.contentDisposition);
    assert.equal((await fetch((await storage.signedAddress?.(parsePath(`/${name}`), headers, -1)) ?? '')).status, 403);
  });

  const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1' };
  const addLocation = async (postern: TestPostern, configuration: object) =>
    (await postern.call('location/add', { name: 'container', kind: 'azure', configuration: JSON.stringify(configuration) })).id;

  test('at an Azure location, visitors list, upload, download, archive, rename and delete', async (t) => {
    const postern = await startPostern(t, { environment });
    await addLocation(postern, { ...(await newContainer()), prefix: 'files' });
    await checkFileActions(postern, 'container');
  });

  /** Creates a container. @returns the configuration of a location in it, and a function that lists what is in its staging area */
  async function newLocation() {
    const configuration = { ...(await newContainer()), prefix: 'files' };
    const container = openTestContainer(configuration, outbound);
    async function listStaged(): Promise<string[]> {
      const query = { restype: 'container', comp: 'list', prefix: 'files/.postern/' };
      const list = Buffer.from(await (await container.send('GET', '', { query })).read(1 << 20)).toString();
      return [...list.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name = '']) => name);
    }
    return { configuration, listStaged };
  }

  test('at an Azure location, an upload in parts continues after a restart, and leaves no staging files', async (t) => {
    const { configuration, listStaged } = await newLocation();
    await checkParts(
      t,
      { location: 'container', data: await temporaryFolder(t), environment },
      (postern) => addLocation(postern, configuration),
      listStaged,
    );
  });

  test('uploads in parts to an Azure location continue after the process was killed, and lose no acknowledged part', async (t) => {
    const { configuration, listStaged } = await newLocation();
    const location = { name: 'container', kind: 'azure', configuration: JSON.stringify(configuration) };
    const storage = openAzure(configuration, outbound, { now: () => Date.now() + 27 * 3_600_000 });
    await checkKilledUploads(t, { environment, location, listStaged, sweep: () => storage.sweep(async () => []) }, 350);
  });

  test('an Azure location is tested, its secret is masked and never logged, and the stored secret is not sent to another account', async (t) =>
    checkLocationSecrets(t, {
      kind: 'azure',
      configuration: await newContainer(),
      secretMember: 'accountKey',
      wrongSecret: 'YW5vdGhlcg==',
      otherServer: { endpoint: 'https://other.blob.core.windows.net' },
    }));
}
