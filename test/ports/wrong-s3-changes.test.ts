import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { deleteUnchanged } from '#adapters/storage/s3/s3-objects.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import { ChangeImpossible, ItemBusy, ItemChanged, OutcomeUnknown, StorageUnavailable } from '#ports/storage-errors.ts';
import { startFakeS3 } from '../parts/fake-s3.ts';
import { openBucket } from '../parts/open-s3.ts';
import { fileHeaders, isUnavailable, listPageXml, startFakeS3Storage } from './fake-s3-storage.ts';
import { newToken, parsePath } from './storage.contract.ts';

test('an HTML page with status 200 from an S3 service does not count as success', async (t) => {
  const { storage } = await startFakeS3Storage(t, (_, response) => {
    response.removeHeader('etag');
    response.end('<html><body>Maintenance</body></html>');
  });
  await assert.rejects(storage.check(), isUnavailable);
  await assert.rejects(storage.createFolder(parsePath('/'), 'folder', { token: newToken(), pendingTokens: [] }), StorageUnavailable);
});

test('an S3 service without the bucket is unavailable, and its files are not reported as absent', async (t) => {
  const { storage } = await startFakeS3Storage(t, (_, response) => response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>'));
  await assert.rejects(storage.open(parsePath('/doc')), isUnavailable);
  const change = { action: 'createFolder', parent: parsePath('/'), name: 'folder', newName: '', token: newToken() } as const;
  await assert.rejects(storage.recover(change), isUnavailable);
});

test('uploads, new folders and renames that an S3 service denies fail with ChangeImpossible, so that none of them stays pending', async (t) => {
  const denied = '<Error><Code>AccessDenied</Code></Error>';
  const { storage } = await startFakeS3Storage(t, ({ method, url = '' }, response) => {
    if (method === 'HEAD')
      return void (url.includes('before') ? response.writeHead(200, fileHeaders).end() : response.writeHead(404).end());
    if (method === 'GET') return void response.end(listPageXml(url.includes('before') ? ['before'] : []));
    response.writeHead(method === 'DELETE' ? 204 : 403).end(denied);
  });
  const root = parsePath('/');
  const context = () => ({ token: newToken(), pendingTokens: [] });
  await assert.rejects(storage.createFolder(root, 'folder', context()), ChangeImpossible);
  await assert.rejects(storage.rename(root, 'before', 'after', context()), ChangeImpossible);
  const target = { parent: root, name: 'a', ifTaken: 'refuse' } as const;
  const small = await storage.upload({ ...target, size: 4 }, newToken());
  await small.write(Buffer.from('text'));
  await assert.rejects(small.place(), ChangeImpossible);
  await assert.rejects(storage.upload({ ...target, size: null }, newToken()), ChangeImpossible);
});

test('a part that an S3 service fails to store is sent again', async (t) => {
  let attempts = 0;
  const { storage } = await startFakeS3Storage(t, ({ method, url = '' }, response) => {
    if (method === 'POST')
      return void response.end('<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>');
    attempts += url.includes('partNumber=') ? 1 : 0;
    response.writeHead(attempts === 1 ? 500 : 200).end('<ListBucketResult/>');
  });
  const upload = await storage.upload({ parent: parsePath('/'), name: 'a', size: null, ifTaken: 'refuse' }, newToken());
  await upload.write(Buffer.from('text'));
  await upload.sync();
  await upload.discard();
  assert.equal(attempts, 2);
});

test('a request that an overloaded S3 service refuses is sent again', async (t) => {
  let puts = 0;
  const { storage, requests } = await startFakeS3Storage(t, ({ method }, response) => {
    if (method === 'HEAD') return void response.writeHead(404).end();
    if (method !== 'PUT') return void response.end(listPageXml([]));
    puts += 1;
    if (puts > 1) response.end();
    else response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
  });
  await storage.createFolder(parsePath('/'), 'folder', { token: newToken(), pendingTokens: [] });
  assert.equal(requests.filter((request) => request.startsWith('PUT')).length, 2);
});

test('a file is uploaded to an S3 service that answers 501 to conditional uploads', async (t) => {
  const storedObjects: string[] = [];
  const { storage } = await startFakeS3Storage(t, ({ method, headers, url = '' }, response) => {
    if (method === 'HEAD') return void response.writeHead(404).end();
    if (method !== 'PUT') return void response.end(listPageXml([]));
    if (headers['if-none-match']) return void response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>');
    storedObjects.push(`${url} ${headers['content-length']}`);
    response.end();
  });
  const upload = await storage.upload({ parent: parsePath('/'), name: 'a', size: 4, ifTaken: 'refuse' }, newToken());
  await upload.write(Buffer.from('text'));
  assert.equal(await upload.place(), 'a');
  assert.deepEqual(storedObjects, ['/bucket/a 4']);
});

for (const code of ['InvalidRequest', 'MissingContentMD5'])
  test(`a file is uploaded to an S3 bucket with Object Lock, which demands checksums (${code})`, async (t) => {
    const storedObjects: string[] = [];
    const { storage } = await startFakeS3Storage(t, ({ method, headers }, response, body) => {
      if (method === 'HEAD') return void response.writeHead(404).end();
      if (method !== 'PUT') return void response.end(listPageXml([]));
      const md5 = createHash('md5').update(body).digest('base64');
      if (headers['content-md5'] !== md5) return void response.writeHead(400).end(`<Error><Code>${code}</Code></Error>`);
      storedObjects.push(body);
      response.end();
    });
    for (const name of ['a', 'b']) {
      const upload = await storage.upload({ parent: parsePath('/'), name, size: 4, ifTaken: 'refuse' }, newToken());
      await upload.write(Buffer.from('text'));
      assert.equal(await upload.place(), name);
    }
    assert.deepEqual(storedObjects, ['text', 'text']);
  });

test('a file is renamed at an S3 service that answers 501 to conditional copies', async (t) => {
  const objects = new Set(['/bucket/a']);
  const { storage } = await startFakeS3Storage(t, ({ method, url = '', headers }, response) => {
    const key = url.replace(/\?.*/, '');
    if (method === 'HEAD') return void response.writeHead(objects.has(key) ? 200 : 404, objects.has(key) ? fileHeaders : {}).end();
    if (method === 'GET') return void response.end(listPageXml(url.includes('prefix=a&') ? ['a'] : []));
    if (headers['x-amz-copy-source-if-match']) return void response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>');
    if (method === 'POST') return void response.end('<DeleteResult/>');
    objects.add(key);
    response.end('<CopyObjectResult><ETag>"e"</ETag></CopyObjectResult>');
  });
  await storage.rename(parsePath('/'), 'a', 'b', { token: newToken(), pendingTokens: [] });
  assert.ok(objects.has('/bucket/b'));
});

test('a folder is deleted at an S3 service that answers 501 to conditional deletions', async (t) => {
  const deletions: string[] = [];
  const { storage } = await startFakeS3Storage(t, ({ method, url = '' }, response, body) => {
    if (method === 'HEAD') return void response.writeHead(url.includes('.decided') ? 200 : 404, fileHeaders).end();
    if (method === 'GET') return void response.end(listPageXml(['folder/a']));
    if (method !== 'POST') return void response.end();
    if (body.includes('<ETag>')) return void response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>');
    deletions.push(...body.matchAll(/<Key>(.*?)<\/Key>/g).map(([, key = '']) => key));
    response.end('<DeleteResult/>');
  });
  await storage.remove(parsePath('/'), 'folder', { token: newToken() });
  assert.deepEqual(deletions, ['folder/a']);
});

test('while thousands of objects are deleted at an S3 service, other work runs', async (t) => {
  let [encoded, latest, atOnce] = [0, 0, 0];
  const encodedAtRequest: number[] = [];
  const { configuration } = await startFakeS3(t, (_request, response) => {
    encodedAtRequest.push(encoded);
    response.end('<DeleteResult/>');
  });
  await using outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  const objects = Array.from({ length: 2500 }, () => ({
    get key() {
      encoded += 1;
      return '>'.repeat(1000);
    },
    etag: '"e"',
  }));
  const otherWork = () => {
    atOnce = Math.max(atOnce, encoded - latest);
    latest = encoded;
    if (encoded < objects.length) setImmediate(otherWork);
  };
  setImmediate(otherWork);
  await deleteUnchanged(openBucket(configuration, outbound), objects);
  assert.deepEqual(encodedAtRequest, [1000, 2000, 2500]);
  assert.ok(atOnce <= 200, `${atOnce} keys at once`);
});

test('a folder that another process renames or deletes at an S3 service is busy, not absent', async (t) => {
  const { storage } = await startFakeS3Storage(t, ({ method }, response) => {
    if (method === 'PUT') response.writeHead(412).end();
    else response.end(listPageXml(['folder/a']));
  });
  await assert.rejects(storage.remove(parsePath('/'), 'folder', { token: newToken() }), ItemBusy);
});

test('a folder with more than 100,000 files at an S3 service is not deleted in part', async (t) => {
  let pages = 0;
  const { storage, requests } = await startFakeS3Storage(t, ({ method, url = '' }, response) => {
    if (method === 'HEAD') return void response.writeHead(404).end();
    if (method !== 'GET') return void response.end();
    pages += 1;
    const keys = Array.from({ length: url.includes('max-keys=1&') ? 1 : 1000 }, (_, index) => `folder/${pages}-${index}`);
    response.end(listPageXml(keys, `page ${pages}`));
  });
  await assert.rejects(storage.remove(parsePath('/'), 'folder', { token: newToken() }), ChangeImpossible);
  assert.ok(!requests.some((request) => request.startsWith('POST')), 'nothing was deleted');
});

test('if an S3 service reports a failed copy with status 200, the rename of the file fails, and the file is not deleted', async (t) => {
  const { storage, requests } = await startFakeS3Storage(t, ({ method, headers, url = '' }, response) => {
    if (headers['x-amz-copy-source']) return void response.end('<Error><Code>InternalError</Code></Error>');
    if (method === 'HEAD') return void (url.includes('/old') ? response.writeHead(200, fileHeaders).end() : response.writeHead(404).end());
    response.end(method === 'GET' ? listPageXml([]) : '<DeleteResult></DeleteResult>');
  });
  await assert.rejects(storage.rename(parsePath('/'), 'old', 'new', { token: newToken(), pendingTokens: [] }), StorageUnavailable);
  assert.ok(!requests.some((request) => request.startsWith('POST')), 'nothing was deleted');
});

test('a file is not renamed if an S3 service reports an impossible size of the file', async (t) => {
  const { storage, requests } = await startFakeS3Storage(t, ({ method, url = '' }, response) => {
    if (method === 'GET') return void response.end(listPageXml([]));
    if (method !== 'HEAD') return void response.end('<DeleteResult/>');
    if (!url.startsWith('/bucket/old')) return void response.writeHead(404).end();
    response.writeHead(200, { ...fileHeaders, 'content-length': '9999999999999999' }).end();
  });
  await assert.rejects(storage.rename(parsePath('/'), 'old', 'new', { token: newToken(), pendingTokens: [] }), ChangeImpossible);
  assert.ok(!requests.some((request) => /uploads|partNumber/.test(request)), 'no part was copied');
});

test('an upload in parts to an S3 service fails if the service sends a very long ETag for a part', async (t) => {
  const { storage } = await startFakeS3Storage(t, ({ method }, response) => {
    const isStart = method === 'POST';
    response
      .setHeader('etag', `"${'e'.repeat(8000)}"`)
      .end(isStart ? '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>' : listPageXml([]));
  });
  const upload = await storage.upload({ parent: parsePath('/'), name: 'a', size: null, ifTaken: 'refuse' }, newToken());
  await upload.write(Buffer.from('text'));
  await assert.rejects(upload.sync(), isUnavailable);
  await upload.discard();
});

test('the copies of a rename that was interrupted at an S3 service are deleted page by page', async (t) => {
  const token = newToken();
  const steps: string[] = [];
  const { storage } = await startFakeS3Storage(t, ({ method, url = '' }, response, body) => {
    if (method === 'HEAD') {
      const isMissing = url.includes('.postern') || /^\/bucket\/(old|new)(\?|$)/.test(url);
      return void response.writeHead(isMissing ? 404 : 200, { ...fileHeaders, 'x-amz-meta-postern-token': token }).end();
    }
    if (method === 'POST') {
      steps.push(...body.matchAll(/<Key>(.*?)<\/Key>/g).map(([, key]) => `delete ${key}`));
      return void response.end('<DeleteResult/>');
    }
    if (!url.includes('prefix=new') || url.includes('max-keys=1&')) return void response.end(listPageXml(['old/1']));
    const isSecond = url.includes('continuation-token');
    steps.push(isSecond ? 'second page' : 'first page');
    response.end(isSecond ? listPageXml(['new/2']) : listPageXml(['new/1'], 'next'));
  });
  const change = { action: 'rename', parent: parsePath('/'), name: 'old', newName: 'new', token } as const;
  assert.equal(await storage.recover(change), null);
  assert.deepEqual(steps, ['first page', 'delete new/1', 'second page', 'delete new/2']);
});

test('the outcome of a change is unknown if the S3 service answers 500', async (t) => {
  const { storage } = await startFakeS3Storage(t, ({ method }, response) => {
    if (method === 'GET') response.end(listPageXml([]));
    else response.writeHead(method === 'HEAD' ? 404 : 500).end();
  });
  const change = { token: newToken(), pendingTokens: [] };
  await assert.rejects(storage.createFolder(parsePath('/'), 'folder', change), OutcomeUnknown);
});

test('a file that is deleted while it is replaced in parts at an S3 service counts as changed, not as unavailable', async (t) => {
  const { storage } = await startFakeS3Storage(t, ({ method, url = '', headers }, response) => {
    if (method === 'HEAD') return void response.writeHead(200, fileHeaders).end();
    if (headers['if-match'] === '"another"') return void response.writeHead(412).end();
    if (headers['if-match'] && method === 'POST') return void response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    if (url.includes('delete=')) return void response.end('<DeleteResult/>');
    const isStart = method === 'POST' && url.includes('uploads');
    response
      .setHeader('etag', '"e"')
      .end(isStart ? '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>' : listPageXml([]));
  });
  const upload = await storage.upload({ parent: parsePath('/'), name: 'a', size: null, ifTaken: { replaces: '"e"' } }, newToken());
  for (let chunk = 0; chunk < 9; chunk += 1) await upload.write(Buffer.alloc(1_000_000));
  await upload.sync();
  await assert.rejects(upload.place(), ItemChanged);
});

test('all parts of an upload to an S3 service have the same size, except the last one', async (t) => {
  const lengths: string[] = [];
  const { storage } = await startFakeS3Storage(t, ({ method, headers, url = '' }, response) => {
    if (url.includes('partNumber=')) lengths.push(headers['content-length'] ?? '');
    const isStart = method === 'POST';
    response
      .setHeader('etag', '"e"')
      .end(isStart ? '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>' : '<ListBucketResult/>');
  });
  const upload = await storage.upload({ parent: parsePath('/'), name: 'a', size: null, ifTaken: 'refuse' }, newToken());
  for (let chunk = 0; chunk < 17; chunk += 1) await upload.write(Buffer.alloc(1_000_000));
  await upload.sync();
  await upload.discard();
  assert.deepEqual(lengths, ['8388608', '8388608', '222784']);
});

test('at an S3 service that responds slowly, at most four deletions of evidence run at a time', async (t) => {
  let [running, most] = [0, 0];
  const { storage } = await startFakeS3Storage(t, (_, response) => {
    running += 1;
    most = Math.max(most, running);
    setImmediate(() => {
      running -= 1;
      response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    });
  });
  const change = { action: 'delete', parent: parsePath('/'), name: 'a', newName: '' } as const;
  await Promise.allSettled(Array.from({ length: 20 }, () => storage.clearEvidence({ ...change, token: newToken() })));
  assert.ok(most > 0 && most <= 4, `${most} at a time`);
});
