import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { hasKeys, listKeys } from '#adapters/storage/s3/s3-list.ts';
import { copyObject, describeObject } from '#adapters/storage/s3/s3-objects.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import type { S3Configuration } from '#core/records/location-configurations.ts';
import type { Outbound } from '#ports/outbound.ts';
import type { Storage } from '#ports/storage.ts';
import { ItemChanged, ItemExists, ItemNotFound, OutcomeUnknown, StorageUnavailable } from '#ports/storage-errors.ts';
import { freePort } from '../parts/free-port.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { openBucket, openS3 } from '../parts/open-s3.ts';
import { type Radosgw, radosgwPrograms, startRadosgw } from '../parts/radosgw.ts';
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
  readBytes,
  readText,
  removeItem,
  renameItem,
  storageContract,
} from './storage.contract.ts';

const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
const missing = radosgwPrograms.filter((program) => !isInstalled(program));

if (missing.length > 0) test('an S3 service meets the storage contract', { skip: `${missing.join(', ')} is not installed` }, () => {});
else {
  let server: Radosgw;
  const createBucket = (configuration: S3Configuration) => openBucket(configuration, outbound).sendAndRead('PUT', '');
  before(async () => {
    server = await startRadosgw(createBucket);
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await outbound[Symbol.asyncDispose]();
  });
  /** A clock that is two hours ahead: the sweep keeps evidence for an hour, but the received bytes of unfinished uploads for 26 hours. */
  const clockAhead = { now: () => Date.now() + 2 * 3_600_000 };
  const openStorage = async (_t: TestContext) => openS3({ ...(await server.newBucket()), prefix: 'shared/files' }, outbound, clockAhead);
  storageContract('S3 (radosgw)', openStorage);

  test('S3 (radosgw): a location with a wrong bucket or wrong credentials is unavailable', async () => {
    const configuration = await server.newBucket();
    const isUnavailable = (cause: unknown) => cause instanceof StorageUnavailable && !(cause instanceof OutcomeUnknown);
    for (const wrong of [{ bucket: 'none' }, { secretAccessKey: 'wrong' }]) {
      const storage = openS3({ ...configuration, ...wrong }, outbound);
      await assert.rejects(storage.check(), isUnavailable);
      await assert.rejects(storage.stat(parsePath('/file')), isUnavailable);
    }
  });

  test('S3 (radosgw): the outcome of a change is unknown if no connection to the service is possible', async () => {
    const storage = openS3({ ...(await server.newBucket()), endpoint: `http://127.0.0.1:${await freePort()}` }, outbound);
    await assert.rejects(storage.check(), StorageUnavailable);
    const bucket = openBucket({ ...(await server.newBucket()), endpoint: `http://127.0.0.1:${await freePort()}` }, outbound);
    await assert.rejects(bucket.send('PUT', 'key', { body: 'text' }), OutcomeUnknown);
  });

  test('S3 (radosgw): a file that another program creates or replaces during an upload stays', async () => {
    const configuration = await server.newBucket();
    const [bucket, storage] = [openBucket(configuration, outbound), openS3(configuration, outbound)];
    await putFile(storage, '/', 'replaced', 'before');
    const etag = (await storage.stat(parsePath('/replaced')))?.etag ?? '';
    const change = { parent: parsePath('/'), size: 5 } as const;
    const uploads = [
      { ...change, name: 'new', ifTaken: 'refuse' },
      { ...change, name: 'replaced', ifTaken: { replaces: etag } },
    ] as const;
    for (const target of uploads) {
      // The other program writes between the check of the name and the request that stores the file.
      const request: Outbound['request'] = async (url, options) => {
        if (options?.method === 'PUT' && url.pathname.endsWith(`/${target.name}`))
          await bucket.sendAndRead('PUT', target.name, { body: 'by another program' });
        return outbound.request(url, options);
      };
      const upload = await openS3(configuration, { request }).upload(target, newToken());
      await upload.write(Buffer.from('after'));
      await assert.rejects(upload.place(), target.ifTaken === 'refuse' ? ItemExists : ItemChanged);
      await upload.discard();
      assert.equal(await readText(storage, `/${target.name}`), 'by another program');
    }
  });

  test('S3 (radosgw): keys that are not valid paths are not listed, and are deleted with their folder', async () => {
    const configuration = await server.newBucket();
    const [bucket, storage] = [openBucket(configuration, outbound), openS3(configuration, outbound)];
    const keys = ['tree/a//b', 'tree/line\nbreak', 'tree/back\\slash', 'tree/a & <b>', 'tree/50% +ä'];
    for (const key of keys) await bucket.sendAndRead('PUT', key, { body: 'x' });
    assert.deepEqual(await namesIn(storage, '/tree'), ['50% +ä', 'a', 'a & <b>']);
    assert.deepEqual(await namesIn(storage, '/tree/a'), []);
    await removeItem(storage, parsePath('/'), 'tree');
    assert.equal(await hasKeys(bucket, 'tree'), false);
  });

  test('S3 (radosgw): a copy keeps the headers and metadata of an object, and a large object is copied in parts', async () => {
    const bucket = openBucket(await server.newBucket(), outbound);
    const part = 5 << 20; // bytes: S3 accepts a smaller part only as the last one
    const body = Buffer.from(Array.from({ length: part + 1000 }, (_, index) => index % 251));
    const headers = { 'content-type': 'text/x-special', 'cache-control': 'no-cache', 'x-amz-meta-author': 'ann' };
    await bucket.sendAndRead('PUT', 'old', { body: { length: body.length, pieces: Readable.from([body]) }, headers });
    const old = await describeObject(bucket, 'old');
    assert.ok(old);
    for (const [key, maxBytes] of [
      ['whole', body.length],
      ['parts', part],
    ] as const) {
      await copyObject(bucket, old, key, { token: 'token-of-the-change', overwrites: false, maxBytes });
      const copy = await describeObject(bucket, key);
      assert.equal(copy?.token, 'token-of-the-change');
      assert.deepEqual(copy?.headers, { ...headers, 'x-amz-meta-postern-token': 'token-of-the-change' });
      const response = await bucket.send('GET', key);
      assert.ok(body.equals(await response.read(2 * body.length)), key);
    }
  });

  test('S3 (radosgw): a copy keeps the UTF-8 metadata of an object', async () => {
    const bucket = openBucket(await server.newBucket(), outbound);
    const headers = { 'x-amz-meta-author': '=?UTF-8?B?w4TDtg==?=' };
    await bucket.sendAndRead('PUT', 'old', { body: 'text', headers });
    const old = await describeObject(bucket, 'old');
    assert.ok(old);
    await copyObject(bucket, old, 'new', { token: 'token', overwrites: false });
    assert.equal((await describeObject(bucket, 'new'))?.headers['x-amz-meta-author'], headers['x-amz-meta-author']);
  });

  /** Runs a change that ends with an error at its first deletion, as if the process had been killed. */
  async function interruptAtDeletion(configuration: S3Configuration, change: (storage: Storage) => Promise<void>): Promise<void> {
    const request: Outbound['request'] = (url, options) =>
      url.search.startsWith('?delete') ? Promise.reject(new Error('killed')) : outbound.request(url, options);
    await assert.rejects(change(openS3(configuration, { request })), OutcomeUnknown);
  }

  test('S3 (radosgw): recovery completes the rename of a folder if all files were copied', async () => {
    const configuration = await server.newBucket();
    const storage = openS3(configuration, outbound, clockAhead);
    await createFolder(storage, parsePath('/'), 'old');
    for (const name of ['a', 'b']) await putFile(storage, '/old', name, name);
    const change = { action: 'rename', parent: parsePath('/'), name: 'old', newName: 'new', token: newToken() } as const;
    await interruptAtDeletion(configuration, (interruptedStorage) =>
      interruptedStorage.rename(change.parent, 'old', 'new', { ...change, pendingTokens: [] }),
    );
    assert.deepEqual(await namesIn(storage, '/'), ['new', 'old']);
    assert.equal(await storage.recover(change), 'new');
    assert.equal(await storage.recover(change), 'new');
    await storage.clearEvidence(change);
    assert.deepEqual(await namesIn(storage, '/'), ['new']);
    assert.deepEqual(await namesIn(storage, '/new'), ['a', 'b']);
    await renameItem(storage, parsePath('/'), 'new', 'old'); // the claim of the name was released
  });

  test('S3 (radosgw): a file that is written into a folder while the folder is renamed is not lost', async () => {
    const configuration = await server.newBucket();
    const storage = openS3(configuration, outbound);
    await createFolder(storage, parsePath('/'), 'old');
    for (const name of ['a', 'b']) await putFile(storage, '/old', name, name);
    const etag = (await storage.stat(parsePath('/old/a')))?.etag;
    // Other clients write after the last copy and before the decision is noted.
    const request: Outbound['request'] = async (url, options) => {
      if (url.pathname.endsWith('.decided') && options?.method === 'PUT') {
        await putFile(storage, '/old', 'a', 'replaced', etag);
        await putFile(storage, '/old', 'c', 'new');
      }
      return outbound.request(url, options);
    };
    await renameItem(openS3(configuration, { request }), parsePath('/'), 'old', 'new');
    assert.deepEqual(await namesIn(storage, '/new'), ['a', 'b']);
    assert.deepEqual(await namesIn(storage, '/old'), ['a', 'c']);
    assert.equal(await readText(storage, '/old/a'), 'replaced');
  });

  test('S3 (radosgw): if a file is uploaded to the new path of a folder during its rename, the file stays, and the rename is undone', async () => {
    const configuration = await server.newBucket();
    const storage = openS3(configuration, outbound);
    await createFolder(storage, parsePath('/'), 'old');
    for (const name of ['a', 'b']) await putFile(storage, '/old', name, name);
    // The upload comes after the check that the new name is free, and before the copy of the file with the same name.
    let isUploaded = false;
    const request: Outbound['request'] = async (url, options) => {
      if (options?.method === 'HEAD' && url.pathname.endsWith('/new/b') && !isUploaded) {
        isUploaded = true;
        await openBucket(configuration, outbound).sendAndRead('PUT', 'new/b', { body: 'uploaded' });
      }
      return outbound.request(url, options);
    };
    await assert.rejects(renameItem(openS3(configuration, { request }), parsePath('/'), 'old', 'new'), ItemExists);
    assert.equal(await readText(storage, '/new/b'), 'uploaded');
    assert.deepEqual([await namesIn(storage, '/old'), await namesIn(storage, '/new')], [['a', 'b'], ['b']]);
  });

  test('S3 (radosgw): recovery keeps a renamed folder even if the evidence of the rename was deleted', async () => {
    const storage = openS3(await server.newBucket(), outbound, clockAhead);
    await createFolder(storage, parsePath('/'), 'old');
    await putFile(storage, '/old', 'a', 'text');
    const change = { action: 'rename', parent: parsePath('/'), name: 'old', newName: 'new', token: newToken() } as const;
    await storage.rename(change.parent, 'old', 'new', { ...change, pendingTokens: [] });
    await storage.sweep(async () => []);
    assert.equal(await storage.recover(change), 'new');
    assert.equal(await readText(storage, '/new/a'), 'text');
  });

  test('S3 (radosgw): a rename that another process has undone meanwhile deletes nothing', async () => {
    const storage = openS3(await server.newBucket(), outbound, clockAhead);
    await createFolder(storage, parsePath('/'), 'old');
    await putFile(storage, '/old', 'a', 'text');
    const change = { action: 'rename', parent: parsePath('/'), name: 'old', newName: 'new', token: newToken() } as const;
    let confirmations = 0;
    const confirm = async () => {
      confirmations += 1;
      if (confirmations === 1) return;
      await storage.recover(change);
      throw new Error('another process has recovered the change');
    };
    await assert.rejects(storage.rename(change.parent, 'old', 'new', { ...change, confirm, pendingTokens: [] }), /another process/);
    assert.deepEqual(await namesIn(storage, '/'), ['old']);
    assert.equal(await readText(storage, '/old/a'), 'text');
  });

  test('S3 (radosgw): if a file of a folder is deleted while the folder is renamed, the rename fails and leaves no copies', async () => {
    const configuration = await server.newBucket();
    const [bucket, storage] = [openBucket(configuration, outbound), openS3(configuration, outbound)];
    await createFolder(storage, parsePath('/'), 'old');
    for (const name of ['a', 'b']) await putFile(storage, '/old', name, name);
    const request: Outbound['request'] = async (url, options) => {
      if (options?.method === 'HEAD' && url.pathname.endsWith('/old/b')) await bucket.sendAndRead('DELETE', 'old/b');
      return outbound.request(url, options);
    };
    await assert.rejects(renameItem(openS3(configuration, { request }), parsePath('/'), 'old', 'new'), ItemNotFound);
    assert.deepEqual(await namesIn(storage, '/'), ['old']);
    assert.deepEqual(await namesIn(storage, '/old'), ['a']);
  });

  test('S3 (radosgw): recovery undoes the rename of a folder if not all files were copied', async () => {
    const configuration = await server.newBucket();
    const storage = openS3(configuration, outbound, clockAhead);
    for (const folder of ['old', 'new']) await createFolder(storage, parsePath('/'), folder);
    for (const name of ['a', 'b']) await putFile(storage, '/old', name, name);
    await removeItem(storage, parsePath('/'), 'new');
    const change = { action: 'rename', parent: parsePath('/'), name: 'old', newName: 'new', token: newToken() } as const;
    const [failure, recovery] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const sendManyRequests = async () => {
      for (let count = 0; count < 30; count += 1) await storage.stat(parsePath('/old/a'));
    };
    let delayedCopy: ReturnType<Outbound['request']> | undefined;
    const request: Outbound['request'] = async (url, options) => {
      const isCopyOf = (name: string) => url.pathname.endsWith(`/new/${name}`) && options?.method === 'PUT';
      if (isCopyOf('b')) {
        failure.resolve();
        throw new Error('killed');
      }
      if (!isCopyOf('a')) return outbound.request(url, options);
      // The copy begins before the failure, and reaches the service long after it. The rename must not fail before the copy ends:
      // otherwise the copy would be made after the recovery.
      delayedCopy = failure.promise
        .then(() => Promise.race([recovery.promise, sendManyRequests()]))
        .then(() => outbound.request(url, options));
      return delayedCopy;
    };
    const interruptedStorage = openS3(configuration, { request });
    await assert.rejects(interruptedStorage.rename(change.parent, 'old', 'new', { ...change, pendingTokens: [] }), OutcomeUnknown);
    assert.equal(await storage.recover(change), null);
    recovery.resolve();
    await delayedCopy;
    await storage.clearEvidence(change);
    assert.deepEqual(await namesIn(storage, '/'), ['old']);
    assert.deepEqual(await namesIn(storage, '/old'), ['a', 'b']);
  });

  test('S3 (radosgw): recovery completes a deletion, and then a new file can have the name', async () => {
    const configuration = await server.newBucket();
    const storage = openS3(configuration, outbound, clockAhead);
    await putFile(storage, '/', 'file', 'old');
    const change = { action: 'delete', parent: parsePath('/'), name: 'file', newName: '', token: newToken() } as const;
    await interruptAtDeletion(configuration, (interruptedStorage) => interruptedStorage.remove(change.parent, 'file', change));
    assert.equal(await storage.recover(change), 'file');
    assert.equal(await storage.stat(parsePath('/file')), null);
    await storage.clearEvidence(change);
    await putFile(storage, '/', 'file', 'new');
    assert.equal(await readText(storage, '/file'), 'new');
  });

  test('S3 (radosgw): a deletion or recovery that was suspended deletes nothing after another process has recovered the change', async () => {
    const storage = openS3(await server.newBucket(), outbound, clockAhead);
    await createFolder(storage, parsePath('/'), 'box');
    await putFile(storage, '/box', 'a', 'text');
    const change = { action: 'delete', parent: parsePath('/'), name: 'box', newName: '', token: newToken() } as const;
    let confirmations = 0;
    const confirmOnce = async () => {
      confirmations += 1;
      if (confirmations > 1) throw new StorageUnavailable('another process has recovered the change');
    };
    await assert.rejects(storage.remove(change.parent, 'box', { ...change, confirm: confirmOnce }), StorageUnavailable);
    await assert.rejects(storage.recover(change, confirmOnce), StorageUnavailable);
    assert.equal(await readText(storage, '/box/a'), 'text');
    assert.equal(await storage.recover(change), 'box');
    assert.equal(await storage.stat(parsePath('/box')), null);
  });

  test('S3 (radosgw): a sweep keeps the received bytes of an upload that continues, however old they are, and deletes all others', async () => {
    const storage = openS3(await server.newBucket(), outbound, { now: () => Date.now() + 27 * 3_600_000 });
    const target = { parent: parsePath('/'), name: 'a', size: 8, ifTaken: 'refuse' } as const;
    const uploadToken = newToken();
    const { handle, closeForRecovery } = await storage.upload(target, uploadToken);
    await closeForRecovery();
    const at = (offset: number) => storage.continueUpload(target, { token: uploadToken, handle, offset });
    const first = await at(0);
    await first.write(Buffer.from('four'));
    await first.sync();
    await first.closeForRecovery();
    await storage.sweep(async (tokens) => tokens.filter((token) => token === uploadToken));
    await (await at(4)).closeForRecovery();
    await storage.sweep(async () => []);
    await assert.rejects(at(4), ItemNotFound);
  });

  const numberedTarget = <Size extends number | null>(name: string, size: Size) =>
    ({ parent: parsePath('/'), name, size, ifTaken: 'number' }) as const;

  test('S3 (radosgw): in a drop box, files that would get the same name at the same moment are all kept, with known or unknown length', async () => {
    const configuration = await server.newBucket();
    const storage = openS3(configuration, outbound);
    await putFile(storage, '/', 'a.txt', 'first');
    for (const size of [4, null]) {
      const storeFile = async (name: string, text: string) => {
        const upload = await storage.upload(numberedTarget(name, size), newToken());
        await upload.write(Buffer.from(text));
        const storedName = await upload.place();
        await upload.discard();
        return [storedName, text] as const;
      };
      // In the first round, both uploads try "a (2).txt": one because "a.txt" is taken, the other because this is its own name.
      for (const [name, text] of await Promise.all([storeFile('a.txt', 'numb'), storeFile('a (2).txt', 'own.')]))
        assert.equal(await readText(storage, `/${name}`), text);
    }
    assert.equal((await namesIn(storage, '/'))?.length, 5);
  });

  test('S3 (radosgw): the claim of a name in a drop box is listed but cannot be opened, and recovery deletes the claim if the file was not copied yet', async () => {
    const configuration = await server.newBucket();
    const storage = openS3(configuration, outbound, clockAhead);
    const change = { action: 'upload', parent: parsePath('/'), name: 'a.txt', newName: '', token: newToken() } as const;
    const request: Outbound['request'] = (url, options) =>
      options?.headers?.['x-amz-copy-source'] ? Promise.reject(new Error('killed')) : outbound.request(url, options);
    const upload = await openS3(configuration, { request }).upload(numberedTarget('a.txt', null), change.token);
    await upload.write(Buffer.from('text'));
    await assert.rejects(upload.place(), OutcomeUnknown);
    assert.deepEqual(await namesIn(storage, '/'), ['a.txt']);
    assert.equal(await storage.open(parsePath('/a.txt')), null);
    assert.equal(await storage.recover({ ...change, handle: upload.handle }), null);
    await storage.clearEvidence({ ...change, handle: upload.handle });
    assert.deepEqual(await namesIn(storage, '/'), []);
  });

  test('S3 (radosgw): a large file whose parts were joined, but not copied to its name in a drop box, is put in place when its last byte is sent again', async () => {
    const configuration = await server.newBucket();
    const target = numberedTarget('a.bin', 12 << 20);
    const bytes = Buffer.alloc(target.size, 'x');
    const token = newToken();
    const request: Outbound['request'] = (url, options) =>
      options?.headers?.['x-amz-copy-source'] ? Promise.reject(new Error('the connection was lost')) : outbound.request(url, options);
    const sendRest = async (storage: ReturnType<typeof openS3>, handle: string | null, offset: number) => {
      const upload = await storage.continueUpload(target, { token, handle, offset });
      await upload.write(bytes.subarray(offset));
      await upload.sync();
      return upload;
    };
    const [failing, storage] = [openS3(configuration, { request }), openS3(configuration, outbound, clockAhead)];
    const newUpload = await failing.upload(target, token);
    await newUpload.closeForRecovery();
    const { handle } = newUpload;
    const first = await sendRest(failing, handle, 0);
    await assert.rejects(first.place(), OutcomeUnknown);
    await first.closeForRecovery();
    const change = { action: 'upload', parent: target.parent, name: 'a.bin', newName: '', token, handle } as const;
    assert.equal(await storage.recover(change), null);
    const second = await sendRest(storage, handle, target.size - 1);
    const name = await second.place();
    await second.discard();
    assert.equal(await readText(storage, `/${name}`), bytes.toString());
    assert.deepEqual((await namesIn(storage, '/'))?.length, 1);
  });

  test('S3 (radosgw): a download of a file that is replaced or deleted meanwhile is aborted; from a bucket with versioning, it gets the version that was opened', async () => {
    const bytes = Buffer.alloc(3 << 20, 'first ');
    for (const isVersioned of [false, true]) {
      const configuration = await server.newBucket();
      const [bucket, storage] = [openBucket(configuration, outbound), openS3(configuration, outbound)];
      const versioning =
        '<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>Enabled</Status></VersioningConfiguration>';
      if (isVersioned) await bucket.sendAndRead('PUT', '', { query: { versioning: '' }, body: versioning });
      await putFile(storage, '/', 'file', bytes);
      const file = await storage.open(parsePath('/file'));
      assert.ok(file);
      const checkRead = async () => {
        if (isVersioned) assert.ok((await readBytes(file)).equals(bytes));
        else await assert.rejects(readBytes(file), ItemChanged);
      };
      await bucket.sendAndRead('PUT', 'file', { body: 'second'.repeat(600_000) });
      await checkRead();
      await removeItem(storage, parsePath('/'), 'file');
      await checkRead();
      await file.close();
    }
  });

  test('S3 (radosgw): while the service may still be copying or deleting, an interrupted change is not recovered, so its names stay taken', async () => {
    const configuration = await server.newBucket();
    const storage = openS3(configuration, outbound);
    const lost =
      (isLost: (method: string, copied: boolean, url: URL) => boolean): Outbound['request'] =>
      (url, options) =>
        isLost(options?.method ?? 'GET', options?.headers?.['x-amz-copy-source'] !== undefined, url)
          ? Promise.reject(new Error('the connection was lost'))
          : outbound.request(url, options);
    const copyIsLost = openS3(configuration, { request: lost((_method, copied) => copied) });
    const deletionIsLost = openS3(configuration, {
      request: lost((method, _copied, url) => method === 'POST' && url.searchParams.has('delete')),
    });
    await putFile(storage, '/', 'old', 'text');
    const [parent, newName] = [parsePath('/'), ''];
    const change = { parent, newName, handle: null } as const;
    const rename = { ...change, action: 'rename', name: 'old', newName: 'new', token: newToken() } as const;
    await assert.rejects(copyIsLost.rename(parent, 'old', 'new', { ...rename, pendingTokens: [] }), OutcomeUnknown);
    await assert.rejects(storage.recover(rename), StorageUnavailable);
    await storage.clearEvidence(rename);
    const upload = await copyIsLost.upload(numberedTarget('box', null), 'claimed');
    await upload.write(Buffer.from('text'));
    await assert.rejects(upload.place(), OutcomeUnknown);
    await assert.rejects(storage.recover({ ...change, action: 'upload', name: 'box', token: 'claimed' }), StorageUnavailable);
    const deletion = { ...change, action: 'delete', name: 'old', token: newToken() } as const;
    await assert.rejects(deletionIsLost.remove(parent, 'old', deletion), StorageUnavailable);
    await assert.rejects(storage.recover(deletion), StorageUnavailable);
    assert.equal(await openS3(configuration, outbound, clockAhead).recover(deletion), 'old');
  });

  test('S3 (radosgw): objects of another installation in the staging area of the same bucket stay for an hour', async () => {
    const configuration = await server.newBucket();
    const bucket = openBucket(configuration, outbound);
    await bucket.sendAndRead('PUT', '.postern/token-of-another.name', { body: 'a.txt' });
    await openS3(configuration, outbound).sweep(async () => []);
    assert.equal(await hasKeys(bucket, '.postern/'), true);
    await openS3(configuration, outbound, clockAhead).sweep(async () => []);
    assert.equal(await hasKeys(bucket, '.postern/'), false);
  });

  test('S3 (radosgw): a file whose deletion was interrupted can be created and deleted again after the sweep', async () => {
    const configuration = await server.newBucket();
    const storage = openS3(configuration, outbound, clockAhead);
    await putFile(storage, '/', 'file', 'old');
    const change = { action: 'delete', parent: parsePath('/'), name: 'file', newName: '', token: newToken() } as const;
    await interruptAtDeletion(configuration, (interruptedStorage) => interruptedStorage.remove(change.parent, 'file', change));
    await storage.sweep(async () => [change.token]);
    assert.equal(await storage.recover(change), 'file'); // the process is killed before it deletes the evidence
    await storage.sweep(async () => []);
    await putFile(storage, '/', 'file', 'new');
    await removeItem(storage, parsePath('/'), 'file');
    assert.deepEqual(await namesIn(storage, '/'), []);
  });

  test('S3 (radosgw): a folder stays when its last file is deleted', async () => {
    const configuration = await server.newBucket();
    const [bucket, storage] = [openBucket(configuration, outbound), openS3(configuration, outbound, clockAhead)];
    await bucket.sendAndRead('PUT', 'box/file', { body: 'text' }); // by a program that creates no folders
    await removeItem(storage, parsePath('/box'), 'file');
    assert.deepEqual(await namesIn(storage, '/box'), []);
  });

  test('S3 (radosgw): an interrupted upload to a drop box is recovered under the name that it got', async () => {
    const storage = openS3(await server.newBucket(), outbound, clockAhead);
    await putFile(storage, '/', 'a.txt', 'first');
    const change = { action: 'upload', parent: parsePath('/'), name: 'a.txt', newName: '', token: newToken() } as const;
    const upload = await storage.upload({ parent: change.parent, name: 'a.txt', size: null, ifTaken: 'number' }, change.token);
    await upload.write(Buffer.from('second'));
    assert.equal(await upload.place(), 'a (2).txt'); // `discard` is not called, as after a crash
    const pendingChange = { ...change, name: 'a (2).txt', handle: upload.handle }; // features record the name before it is used
    assert.equal(await storage.recover(pendingChange), 'a (2).txt');
    await storage.clearEvidence(pendingChange);
    await storage.sweep(async () => []);
    assert.deepEqual(await namesIn(storage, '/'), ['a (2).txt', 'a.txt']);
    assert.equal(await readText(storage, '/a (2).txt'), 'second');
  });

  const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1' };
  const addLocation = async (postern: TestPostern, configuration: object) =>
    (await postern.call('location/add', { name: 'bucket', kind: 's3', configuration: JSON.stringify(configuration) })).id;

  test('at an S3 location, visitors list, upload, download, archive, rename and delete', async (t) => {
    const postern = await startPostern(t, { environment });
    await addLocation(postern, { ...(await server.newBucket()), prefix: 'files' });
    await checkFileActions(postern, 'bucket');
  });

  /**
   * Creates a bucket.
   * @returns the configuration of a location in it, and a function that lists what uploads have left: staged objects and the ids of
   *   multipart uploads
   */
  async function newLocation() {
    const configuration = { ...(await server.newBucket()), prefix: 'files' };
    const bucket = openBucket(configuration, outbound);
    async function listStaged(): Promise<string[]> {
      const stagedKeys = await Array.fromAsync(listKeys(bucket, 'files/.postern/'), ({ objects }) => objects.map(({ key }) => key));
      const uploadList = Buffer.from(await (await bucket.send('GET', '', { query: { uploads: '' } })).read(1 << 20)).toString();
      return [...stagedKeys.flat(), ...[...uploadList.matchAll(/<UploadId>(.*?)<\/UploadId>/g)].map(([, id = '']) => id)];
    }
    return { configuration, listStaged };
  }

  test('at an S3 location, an upload in parts continues after a restart, and leaves no staging files', async (t) => {
    const { configuration, listStaged } = await newLocation();
    await checkParts(
      t,
      { location: 'bucket', data: await temporaryFolder(t), environment },
      (postern) => addLocation(postern, configuration),
      listStaged,
    );
  });

  test('uploads in parts to an S3 location continue after the process was killed, and lose no acknowledged part', async (t) => {
    const { configuration, listStaged } = await newLocation();
    const location = { name: 'bucket', kind: 's3', configuration: JSON.stringify(configuration) };
    const storage = openS3(configuration, outbound, { now: () => Date.now() + 27 * 3_600_000 });
    await checkKilledUploads(t, { environment, location, listStaged, sweep: () => storage.sweep(async () => []) }, 350);
  });

  test('a file can be downloaded at the signed address of an S3 service until the address expires', async () => {
    const storage = openS3(await server.newBucket(), outbound);
    const name = "a+b c's ü(1).txt";
    await putFile(storage, '/', name, 'content');
    const headers = { contentType: 'text/plain', contentDisposition: 'attachment; filename="a.txt"' };
    const response = await fetch((await storage.signedAddress?.(parsePath(`/${name}`), headers, 60)) ?? '');
    assert.deepEqual([response.status, await response.text()], [200, 'content']);
    assert.equal(response.headers.get('content-disposition'), headers.contentDisposition);
    const expiredResponse = await fetch((await storage.signedAddress?.(parsePath(`/${name}`), headers, 0)) ?? '');
    assert.ok(expiredResponse.status >= 400);
  });

  test('an S3 location is tested, its secret is masked and never logged, and the stored secret is not sent to another endpoint', async (t) =>
    checkLocationSecrets(t, {
      kind: 's3',
      configuration: await server.newBucket(),
      secretMember: 'secretAccessKey',
      wrongSecret: 'another-secret',
      otherServer: { endpoint: 'https://s3.example.com' },
    }));

  test('an S3 location in a private network is unavailable, and its test names POSTERN_PRIVATE_TARGETS', async (t) => {
    const postern = await startPostern(t);
    const id = await addLocation(postern, await server.newBucket());
    const { works, steps } = await postern.call('location/test', { id });
    assert.equal(works, false);
    assert.match(steps[0].detail, /POSTERN_PRIVATE_TARGETS/);
  });
}
