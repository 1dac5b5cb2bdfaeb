import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { recoverInterruptedChanges } from '#features/visits/files/recover-changes.ts';
import { StorageFull } from '#ports/storage-errors.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { uploadWithoutRecord } from '../parts/unrecorded-change.ts';
import { until } from '../ports/until.ts';
import { type Json, startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { createShare, jsonPostRequest, noPermissions, sendPath } from './visiting.ts';

const put = (postern: TestPostern, path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  sendPath(postern, path, { method: 'PUT', body, headers });
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('an uploaded file is stored completely, and the response has its size and hash', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const bytes = Buffer.from(Array.from({ length: 1_500_000 }, (_, index) => index % 251));
  const answer = await put(postern, `${base}/file/${encodeURIComponent('naïve 🗂.bin')}`, bytes);
  assert.equal(answer.status, 201);
  assert.deepEqual(answer.json, { name: 'naïve 🗂.bin', size: bytes.length, sha256: sha256(bytes) });
  assert.deepEqual(await readFile(join(postern.files, 'naïve 🗂.bin')), bytes);
  const empty = await put(postern, `${base}/file/empty`, '');
  assert.deepEqual(empty.json, { name: 'empty', size: 0, sha256: sha256('') });
});

test('the body of an upload is stored unchanged for every content type', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  for (const type of ['application/json', 'text/html', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded']) {
    const name = encodeURIComponent(type.replace('/', '-'));
    assert.equal((await put(postern, `${base}/file/${name}`, '{"not json', { 'content-type': type })).status, 201, type);
    assert.equal((await sendPath(postern, `${base}/file/${name}`)).text, '{"not json');
  }
});

test('an upload with an invalid content type is accepted', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  assert.equal((await put(postern, `${base}/file/a`, 'a', { 'content-type': 'nonsense' })).status, 201);
});

test('an upload to an existing name gets 409 and does not change the existing file', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'folder'));
  await writeFile(join(postern.files, 'a.txt'), 'first');
  const { base } = await createShare(postern);
  for (const name of ['a.txt', 'folder']) {
    const answer = await put(postern, `${base}/file/${name}`, 'second');
    assert.equal(answer.status, 409, name);
    assert.equal(answer.json.code, 'itemExists');
  }
  assert.equal(await readFile(join(postern.files, 'a.txt'), 'utf8'), 'first');
});

test('an upload replaces a file only if If-Match matches the current file', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  await put(postern, `${base}/file/a.txt`, 'first');
  const { etag = '' } = (await sendPath(postern, `${base}/file/a.txt`)).headers;
  const answer = await put(postern, `${base}/file/a.txt`, 'second', { 'if-match': etag });
  assert.equal(answer.status, 201);
  assert.equal(answer.json.sha256, sha256('second'));
  assert.equal(await readFile(join(postern.files, 'a.txt'), 'utf8'), 'second');
  const stale = await put(postern, `${base}/file/a.txt`, 'third', { 'if-match': etag });
  assert.equal(stale.status, 412);
  assert.equal(await readFile(join(postern.files, 'a.txt'), 'utf8'), 'second');
  assert.equal((await put(postern, `${base}/file/absent.txt`, 'x', { 'if-match': etag })).status, 412);
  assert.equal((await put(postern, `${base}/file/absent.txt`, 'x', { 'if-match': '*' })).status, 412);
  assert.deepEqual((await readdir(postern.files)).filter((name) => !name.startsWith('.')).sort(), ['a.txt', 'welcome.txt']);
});

test('replacing a file requires canDelete', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, { canDelete: false });
  const { etag = '' } = (await sendPath(postern, `${base}/file/welcome.txt`)).headers;
  for (const name of ['welcome.txt', 'absent.txt']) {
    const answer = await put(postern, `${base}/file/${name}`, 'x', { 'if-match': etag });
    assert.equal(answer.status, 403, name);
    assert.equal(answer.json.code, 'permissionOff');
  }
  assert.equal((await put(postern, `${base}/file/new.txt`, 'x')).status, 201);
});

test('a drop box adds a number to a name that exists already, but the response has the name that was sent', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'box/folder'), { recursive: true });
  const { base } = await createShare(postern, { ...noPermissions, canUpload: true, path: '/box' });
  for (const [name, text] of [
    ['cv.tar.gz', '1'],
    ['cv.tar.gz', '2'],
    ['cv.tar.gz', '3'],
    ['noending', '1'],
    ['noending', '2'],
    ['.env', '1'],
    ['.env', '2'],
    ['folder', 'f'],
  ] as const) {
    const answer = await put(postern, `${base}/file/${name}`, text);
    assert.equal(answer.status, 201, name);
    assert.deepEqual(answer.json, { name, size: 1, sha256: sha256(text) });
  }
  const storedNames = (await readdir(join(postern.files, 'box'))).filter((name) => name !== '.postern').sort();
  assert.deepEqual(storedNames, [
    '.env',
    '.env (2)',
    'cv.tar (2).gz',
    'cv.tar (3).gz',
    'cv.tar.gz',
    'folder',
    'folder (2)',
    'noending',
    'noending (2)',
  ]);
  assert.equal(await readFile(join(postern.files, 'box/cv.tar (2).gz'), 'utf8'), '2');
  for (const path of ['/list', '/file/cv.tar.gz', '/view/cv.tar.gz', '/zip'])
    assert.equal((await sendPath(postern, base + path)).status, 403, path);
});

test('simultaneous uploads of one name to a drop box are all stored', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'box'));
  const { base } = await createShare(postern, { ...noPermissions, canUpload: true, path: '/box' });
  const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => put(postern, `${base}/file/a.txt`, `text ${index}`)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array(12).fill(201),
  );
  const texts = await Promise.all(
    (await readdir(join(postern.files, 'box')))
      .filter((name) => name !== '.postern')
      .map((name) => readFile(join(postern.files, 'box', name), 'utf8')),
  );
  assert.deepEqual(texts.sort(), Array.from({ length: 12 }, (_, index) => `text ${index}`).sort());
});

test('if many numbered names are taken, a drop box adds a random suffix after a few attempts', async (t) => {
  let tries = 0;
  const postern = await startWithStorages(t, (method) => {
    if (method === 'upload.place') tries += 1;
  });
  await mkdir(join(postern.files, 'box'));
  const { base } = await createShare(postern, { ...noPermissions, canUpload: true, path: '/box' });
  const names = ['a.txt', ...Array.from({ length: 200 }, (_, index) => `a (${index + 2}).txt`)];
  for (const name of names) await writeFile(join(postern.files, 'box', name), 'first');
  assert.equal((await put(postern, `${base}/file/a.txt`, 'later')).json.name, 'a.txt');
  const [storedName = ''] = (await readdir(join(postern.files, 'box'))).filter((name) => !names.includes(name));
  assert.match(storedName, /^a \([a-z0-9_-]{8}\)\.txt$/);
  assert.ok(tries <= 10, `${tries} tries`);
});

test('outside a drop box, one of several simultaneous uploads of a name succeeds and the others get 409', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => put(postern, `${base}/file/a.txt`, `text ${index}`)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(7).fill(409)]);
  const winner = answers.findIndex(({ status }) => status === 201);
  assert.equal(await readFile(join(postern.files, 'a.txt'), 'utf8'), `text ${winner}`);
});

test('an upload of a file over the size limit gets 413, and no part of the file is kept', async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_MAX_FILE_SIZE: '1000' } });
  const { base } = await createShare(postern);
  assert.equal((await put(postern, `${base}/file/fits`, 'x'.repeat(1000))).status, 201);
  const refusal = await put(postern, `${base}/file/sized`, 'x'.repeat(1001), { 'content-length': '1001' });
  assert.equal(refusal.status, 413);
  assert.equal(refusal.json.code, 'fileTooLarge');
  assert.equal((await put(postern, `${base}/file/unsized`, 'x'.repeat(1001), { 'transfer-encoding': 'chunked' })).status, 413);
  assert.deepEqual((await readdir(postern.files)).filter((name) => name !== '.postern').sort(), ['fits', 'welcome.txt']);
  await until(async () => (await readdir(join(postern.files, '.postern'))).length === 0);
  assert.equal((await postern.visit(`${base}/visit`)).body.share.maxFileSize, 1000);
});

test('an interrupted upload leaves no file, even after a restart', async (t) => {
  const data = await temporaryFolder(t);
  const postern = await startPostern(t, { data });
  const { base } = await createShare(postern);
  const url = new URL(`${postern.publicUrl}${base}/file/broken.bin`);
  const sending = request(url, { method: 'PUT', headers: { 'content-length': '100000', expect: '100-continue' } });
  const connectionClosed = new Promise((resolve) => sending.once('error', resolve));
  await new Promise((resolve) => {
    sending.once('continue', resolve);
    sending.flushHeaders();
  });
  await new Promise((resolve) => sending.write('x'.repeat(50_000), resolve));
  const pendingUpload = () => postern.ports.store.read.selectFrom('audit').select('id').where('outcome', '=', 'begun').executeTakeFirst();
  while (!(await pendingUpload())) await postern.visit(`${base}/visit`);
  assert.equal((await sendPath(postern, `${base}/file/broken.bin`)).status, 404);
  assert.deepEqual(
    (await postern.visit(`${base}/list`)).body.entries.map(({ name }: { name: string }) => name),
    ['welcome.txt'],
  );
  sending.destroy(new Error('interrupted'));
  await connectionClosed;
  await postern.stop();

  const again = await startPostern(t, { data });
  assert.equal((await sendPath(again, `${base}/file/broken.bin`)).status, 404);
  assert.deepEqual(
    (await readdir(again.files)).filter((name) => name !== '.postern'),
    ['welcome.txt'],
  );
  assert.deepEqual(await readdir(join(again.files, '.postern')).catch(() => []), []);
});

test('a drop box gives the same response for existing and missing folders', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'box/known'), { recursive: true });
  const { base } = await createShare(postern, { ...noPermissions, canUpload: true, path: '/box' });
  const [known, unknown] = [await put(postern, `${base}/file/known/a.txt`, 'x'), await put(postern, `${base}/file/unknown/a.txt`, 'x')];
  assert.deepEqual([known.status, known.json.detail], [unknown.status, unknown.json.detail]);
  assert.equal(known.status, 404);
});

test('an upload succeeds even if a folder with its name is created and renamed in the meantime', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const body = new TransformStream<Uint8Array, Uint8Array>();
  const writer = body.writable.getWriter();
  const upload = postern.visit(`${base}/file/a`, { method: 'PUT', body: body.readable, duplex: 'half' } as RequestInit);
  await writer.write(Buffer.from('first, '));
  const pendingTokens = () => postern.ports.store.read.selectFrom('unsettled').select('token').execute();
  await until(async () => (await pendingTokens()).length === 1);
  assert.equal((await postern.visit(`${base}/folder/a`, { method: 'POST' })).status, 201);
  assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path: 'a', name: 'b' }))).status, 200);
  await writer.write(Buffer.from('last'));
  await writer.close();
  assert.equal((await upload).status, 201);
  assert.equal(await readFile(join(postern.files, 'a'), 'utf8'), 'first, last');
});

test('an upload is not stored if its share is deleted while the disk writes it', async (t) => {
  const [syncStart, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const postern = await startWithStorages(t, (method) => {
    if (method !== 'upload.sync') return;
    syncStart.resolve();
    return gate.promise;
  });
  const { id, base } = await createShare(postern);
  const upload = postern.visit(`${base}/file/a`, { method: 'PUT', body: 'a text' }).catch(() => null);
  await syncStart.promise;
  await postern.call('share/delete', { id });
  gate.resolve();
  assert.notEqual((await upload)?.status, 201);
  await postern.stop();
  assert.deepEqual((await readdir(postern.files)).includes('a'), false);
});

test('an upload that a drop box stored under another name is recovered under that name', async (t) => {
  const postern = await startPostern(t);
  await writeFile(join(postern.files, 'a.txt'), 'of another visitor');
  const { base } = await createShare(postern, { ...noPermissions, canUpload: true });
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  await recoverInterruptedChanges(postern.ports, new Set());
  const { list } = await postern.call('audit/search', { action: 'upload' });
  assert.deepEqual(
    list.map(({ outcome, path }: Json) => [outcome, path]),
    [['done', '/a (2).txt']],
  );
});

test('of two replacements of one file through overlapping locations, the second gets 412', async (t) => {
  const gate = Promise.withResolvers<void>();
  const calls: string[] = [];
  const postern = await startWithStorages(t, (method) => {
    calls.push(method);
    return method === 'upload.place' ? gate.promise : undefined;
  });
  await mkdir(join(postern.files, 'inner'));
  await writeFile(join(postern.files, 'inner/doc'), 'old');
  const configuration = JSON.stringify({ folder: join(postern.files, 'inner') });
  await postern.call('location/add', { name: 'inner', kind: 'local', configuration });
  const outer = await createShare(postern, { path: '/inner' });
  const inner = await createShare(postern, { location: 'inner', path: '/' });
  const { etag } = (await sendPath(postern, `${outer.base}/file/doc`)).headers;
  const replace = ({ base }: { base: string }, body: string) =>
    postern.visit(`${base}/file/doc`, { method: 'PUT', body, headers: { 'if-match': String(etag) } });
  const count = (method: string) => calls.filter((called) => called === method).length;
  const first = replace(outer, 'first');
  await until(() => count('upload.place') === 1);
  const second = replace(inner, 'second');
  await until(() => count('upload.sync') === 2);
  await postern.visit(`${inner.base}/visit`);
  assert.equal(count('upload.place'), 1, 'the second replacement waits for the first');
  gate.resolve();
  assert.deepEqual([(await first).status, (await second).status], [201, 412]);
});

test('an upload that is refused before its first byte leaves no audit entry', async (t) => {
  const postern = await startWithStorages(t, (method) => {
    if (method === 'storage.upload') throw new StorageFull('the disk is full');
  });
  const { base, id } = await createShare(postern);
  assert.equal((await postern.visit(`${base}/file/a.txt`, { method: 'PUT', body: 'a' })).status, 507);
  assert.deepEqual((await postern.call('audit/search', { shareId: id, action: 'upload' })).list, []);
});
