import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { wideNetworkOf } from '#core/client-networks.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { until } from '../ports/until.ts';
import { createUsersProfile, mailSettings, signIn, startPostern, type TestPostern } from '../start.ts';
import { changeShare, createShare, hour, minute, noPermissions, settableClock } from '../visit/visiting.ts';
import { metadataOf, sha256, tusClient } from './tus.ts';

async function startWithShare(t: Parameters<typeof startPostern>[0], over: object = {}, options: Parameters<typeof startPostern>[1] = {}) {
  const postern = await startPostern(t, options);
  const share = await createShare(postern, over);
  return { postern, ...share, tus: tusClient(postern, share.base) };
}

/** Returns the names in the folder of the location, without the staging area. */
const visibleNames = async ({ files }: TestPostern) => (await readdir(files)).filter((name) => name !== '.postern').sort();
const stagedNames = ({ files }: TestPostern) => readdir(join(files, '.postern')).catch(() => []);

test('OPTIONS names the version, the extensions, the largest file and the checksum algorithm', async (t) => {
  const { tus, base } = await startWithShare(t, {}, { environment: { POSTERN_MAX_FILE_SIZE: '1000' } });
  const { status, headers } = await tus.send('OPTIONS', `${base}/upload`, { 'tus-resumable': '' });
  assert.equal(status, 204);
  assert.equal(headers['tus-version'], '1.0.0');
  assert.equal(headers['tus-resumable'], '1.0.0');
  assert.equal(headers['tus-extension'], 'creation,expiration,termination,checksum');
  assert.equal(headers['tus-checksum-algorithm'], 'sha256');
  assert.equal(headers['tus-max-size'], '1000');
});

test('a file that is sent in parts is visible only after the last part, is complete, and has the audit entry of an upload', async (t) => {
  const { postern, tus } = await startWithShare(t);
  const bytes = randomBytes(3_000_000);
  const address = await tus.begin('naïve 🗂.bin', bytes.length);
  assert.match(address, /^http.*\/s\/.*\/upload\/[\w-]{32}$/);
  assert.equal(await tus.offset(address), 0);
  const first = await tus.patch(address, 0, bytes.subarray(0, 1_000_001));
  assert.equal(first.status, 204);
  assert.equal(first.headers['upload-offset'], '1000001');
  assert.ok(Date.parse(String(first.headers['upload-expires'])) > Date.now() + 23 * hour);
  assert.deepEqual(await visibleNames(postern), ['welcome.txt']);
  assert.equal(await tus.offset(address), 1_000_001);
  const last = await tus.patch(address, 1_000_001, bytes.subarray(1_000_001));
  assert.equal(last.status, 204);
  assert.equal(last.headers['upload-offset'], '3000000');
  assert.equal(last.headers['repr-digest'], `sha-256=:${sha256(bytes)}:`);
  assert.deepEqual(await readFile(join(postern.files, 'naïve 🗂.bin')), bytes);
  assert.deepEqual(await stagedNames(postern), []);
  const { list: entries } = await postern.call('audit/search', { action: 'upload' });
  assert.equal(entries.length, 1);
  assert.equal(entries[0].outcome, 'done');
  assert.equal(entries[0].bytes, bytes.length);
  const hash = createHash('sha256').update(bytes).digest('hex');
  assert.match(JSON.stringify(entries[0]), new RegExp(hash));
});

test('the upload of an empty file is complete as soon as it is announced', async (t) => {
  const { postern, tus } = await startWithShare(t);
  const address = await tus.begin('empty', 0);
  assert.equal((await readFile(join(postern.files, 'empty'))).length, 0);
  assert.equal((await tus.send('HEAD', address)).status, 410);
});

test('HEAD of a completed upload returns its SHA-256, for a client that has lost the response to the last part', async (t) => {
  const { tus } = await startWithShare(t);
  const address = await tus.begin('a', 3);
  await tus.patch(address, 0, 'abc');
  const { status, headers } = await tus.send('HEAD', address);
  assert.deepEqual([status, headers['upload-offset'], headers['repr-digest']], [410, '3', `sha-256=:${sha256('abc')}:`]);
});

test('requests to a completed upload get 410, and requests to an unknown upload get 404', async (t) => {
  const { tus, base } = await startWithShare(t);
  const address = await tus.begin('a', 1);
  await tus.patch(address, 0, 'a');
  for (const method of ['HEAD', 'DELETE']) assert.equal((await tus.send(method, address)).status, 410, method);
  assert.equal((await tus.patch(address, 1, '')).json.code, 'uploadComplete');
  for (const id of ['x', '', 'a/b']) {
    assert.equal((await tus.send('HEAD', `${base}/upload/${id}`)).status, 404, id);
    assert.equal((await tus.patch(`${base}/upload/${id}`, 0, 'a')).status, 404, id);
  }
});

test('a request with another version of tus gets 412, and the response names the supported version', async (t) => {
  const { tus, base } = await startWithShare(t);
  for (const method of ['POST', 'PATCH', 'HEAD', 'DELETE']) {
    const { status, headers } = await tus.send(method, `${base}/upload/x`, { 'tus-resumable': '0.2.2' });
    assert.equal(status, 412, method);
    assert.equal(headers['tus-version'], '1.0.0');
  }
});

test('an invalid header of a new upload is refused, and the error names the header', async (t) => {
  const { tus, base, postern } = await startWithShare(t, {}, { environment: { POSTERN_MAX_FILE_SIZE: '1' } });
  const good = { 'upload-length': '1', 'upload-metadata': metadataOf('a') };
  const cases: [Record<string, string>, number, string][] = [
    [{ 'upload-length': '-1' }, 400, 'Upload-Length'],
    [{ 'upload-length': '1e3' }, 400, 'Upload-Length'],
    [{ 'upload-metadata': '' }, 400, 'Upload-Metadata'],
    [{ 'upload-metadata': 'filename' }, 400, 'Upload-Metadata'],
    [{ 'upload-metadata': 'filename ***' }, 400, 'Upload-Metadata'],
    [{ 'upload-metadata': `filename ${Buffer.from([0xff, 0xfe]).toString('base64')}` }, 400, 'Upload-Metadata'],
    ...['..', '.postern', 'a/b', 'a\u0000', ''].map((name): [Record<string, string>, number, string] => [
      { 'upload-metadata': metadataOf(name) },
      400,
      'Upload-Metadata',
    ]),
    [{ 'upload-metadata': metadataOf('a'.repeat(3000)) }, 400, 'Upload-Metadata'],
    [{ 'upload-length': '2' }, 413, ''],
  ];
  for (const [headers, status, field] of cases) {
    const answer = await tus.send('POST', `${base}/upload`, { ...good, ...headers });
    assert.equal(answer.status, status, JSON.stringify(headers));
    if (field) assert.equal(answer.json.errors[0].field, field);
  }
  assert.deepEqual(await visibleNames(postern), ['welcome.txt']);
});

test('an upload to a taken name or an absent folder is refused before a byte is sent', async (t) => {
  const { tus, postern, base } = await startWithShare(t);
  await mkdir(join(postern.files, 'folder'));
  assert.equal((await tus.announce('welcome.txt', 1)).json.code, 'itemExists');
  const headers = { 'upload-length': '1', 'upload-metadata': metadataOf('a') };
  assert.equal((await tus.send('POST', `${base}/upload/absent`, headers)).json.code, 'itemAbsent');
  assert.equal((await tus.send('POST', `${base}/upload/folder`, headers)).status, 201);
});

test('a part at a wrong offset is refused with 409, and changes nothing', async (t) => {
  const { tus } = await startWithShare(t);
  const address = await tus.begin('a', 10);
  await tus.patch(address, 0, 'abc');
  for (const offset of [0, 2, 4]) assert.equal((await tus.patch(address, offset, 'xyz')).json.code, 'uploadOffsetWrong', `${offset}`);
  assert.equal(await tus.offset(address), 3);
  assert.equal((await tus.patch(address, 3, 'defghij', { 'content-type': 'application/json' })).status, 415);
  assert.equal((await tus.patch(address, 3, 'defghij', { 'upload-offset': 'x' })).json.errors[0].field, 'Upload-Offset');
});

test('a part that goes beyond the announced length is refused', async (t) => {
  const { tus, postern } = await startWithShare(t);
  const address = await tus.begin('a', 3);
  assert.equal((await tus.patch(address, 0, 'abcd')).status, 413);
  assert.equal(await tus.offset(address), 0);
  assert.equal((await tus.patch(address, 0, 'abc')).status, 204);
  assert.equal(await readFile(join(postern.files, 'a'), 'utf8'), 'abc');
});

test('a part that does not match its checksum is refused with 460, and nothing of it is kept', async (t) => {
  const { tus, postern } = await startWithShare(t);
  const address = await tus.begin('a', 6);
  await tus.patch(address, 0, 'abc', { 'upload-checksum': `sha256 ${sha256('abc')}` });
  assert.equal((await tus.patch(address, 3, 'dxf', { 'upload-checksum': `sha256 ${sha256('def')}` })).status, 460);
  assert.equal(await tus.offset(address), 3);
  assert.equal((await tus.patch(address, 3, 'def', { 'upload-checksum': `md5 ${sha256('def')}` })).status, 400);
  const last = await tus.patch(address, 3, 'def', { 'upload-checksum': `sha256 ${sha256('def')}` });
  assert.equal(last.headers['repr-digest'], `sha-256=:${sha256('abcdef')}:`);
  assert.equal(await readFile(join(postern.files, 'a'), 'utf8'), 'abcdef');
});

test('the bytes of an interrupted part that have arrived are kept, and HEAD returns their number', async (t) => {
  const { tus, postern } = await startWithShare(t);
  const bytes = randomBytes(5_000_000);
  const address = await tus.begin('a', bytes.length);
  const close = tus.sendBeginning(address, 0, bytes.subarray(0, 2_000_000), bytes.length);
  await until(async () => (await stagedSize(postern)) > 1_000_000);
  close();
  await until(async () => (await tus.offset(address)) > 0);
  const receivedBytes = await tus.offset(address);
  assert.ok(receivedBytes <= 2_000_000);
  let last = await tus.patch(address, receivedBytes, bytes.subarray(receivedBytes));
  // The interrupted request locks the upload until it ends, a moment after the bytes are saved.
  while (last.status === 423) last = await tus.patch(address, receivedBytes, bytes.subarray(receivedBytes));
  assert.equal(last.headers['repr-digest'], `sha-256=:${sha256(bytes)}:`);
  assert.deepEqual(await readFile(join(postern.files, 'a')), bytes);
});

async function stagedSize(postern: TestPostern): Promise<number> {
  const names = await stagedNames(postern);
  const sizes = await Promise.all(names.map(async (name) => (await readFile(join(postern.files, '.postern', name))).length));
  return Math.max(0, ...sizes);
}

test('while one part is received, another one is refused with 423', async (t) => {
  const { tus, postern } = await startWithShare(t);
  const address = await tus.begin('a', 5_000_000);
  const close = tus.sendBeginning(address, 0, randomBytes(2_000_000), 5_000_000);
  await until(async () => (await stagedSize(postern)) > 1_000_000);
  const second = await tus.patch(address, 0, 'x');
  assert.equal(second.status, 423);
  assert.equal(second.headers['retry-after'], '1');
  close();
});

test('of two simultaneous parts at one offset, exactly one is kept', async (t) => {
  const { tus, postern } = await startWithShare(t);
  for (let round = 0; round < 10; round += 1) {
    const address = await tus.begin(`a${round}`, 6);
    const answers = await Promise.all(['abc', 'xyz'].map((part) => tus.patch(address, 0, part)));
    assert.deepEqual(answers.map(({ status }) => status === 204).sort(), [false, true]);
    for (const { status } of answers) assert.ok([204, 409, 423].includes(status), `${status}`);
    assert.equal((await tus.patch(address, 3, '...')).status, 204);
    assert.match(await readFile(join(postern.files, `a${round}`), 'utf8'), /^(abc|xyz)\.\.\.$/);
  }
});

test('a deleted upload leaves no staging file', async (t) => {
  const { tus, postern } = await startWithShare(t);
  const address = await tus.begin('a', 6);
  await tus.patch(address, 0, 'abc');
  assert.equal((await tus.send('DELETE', address)).status, 204);
  assert.equal((await tus.send('HEAD', address)).status, 404);
  assert.deepEqual(await stagedNames(postern), []);
  assert.equal((await tus.announce('a', 6)).status, 201);
});

test('if the name is taken before the last part, the part gets 409; once the name is free, the last byte completes the upload', async (t) => {
  const { tus, postern, base } = await startWithShare(t);
  const address = await tus.begin('a', 6);
  await tus.patch(address, 0, 'abc');
  await writeFile(join(postern.files, 'a'), 'another');
  assert.equal((await tus.patch(address, 3, 'def')).json.code, 'itemExists');
  assert.equal(await readFile(join(postern.files, 'a'), 'utf8'), 'another');
  // A tus client would treat an offset of 6 as success, so HEAD returns 5.
  assert.equal(await tus.offset(address), 5);
  await postern.visit(`${base}/file/a`, { method: 'DELETE' });
  assert.equal((await tus.patch(address, 5, 'f')).headers['repr-digest'], `sha-256=:${sha256('abcdef')}:`);
  assert.equal(await readFile(join(postern.files, 'a'), 'utf8'), 'abcdef');
});

test('at a drop box, a file that is sent in parts gets a number if its name is taken, and the visitor sees no conflict', async (t) => {
  const { tus, postern, base } = await startWithShare(t, { ...noPermissions, canUpload: true });
  const address = await tus.begin('welcome.txt', 3);
  assert.equal((await tus.patch(address, 0, 'abc')).status, 204);
  assert.equal(await readFile(join(postern.files, 'welcome (2).txt'), 'utf8'), 'abc');
  const headers = { 'upload-length': '1', 'upload-metadata': metadataOf('a') };
  assert.equal((await tus.send('POST', `${base}/upload/folder`, headers)).json.code, 'itemAbsent');
});

test('an upload cannot continue while the share does not permit uploads, and can continue once the share permits them again', async (t) => {
  const { tus, postern, id } = await startWithShare(t);
  const address = await tus.begin('a', 6);
  await tus.patch(address, 0, 'abc');
  await changeShare(postern, id, { canUpload: false });
  for (const { status } of [await tus.patch(address, 3, 'def'), await tus.send('HEAD', address), await tus.send('DELETE', address)])
    assert.equal(status, 403);
  await changeShare(postern, id, { canUpload: true });
  assert.equal((await tus.patch(address, 3, 'def')).status, 204);
});

test('an upload that has received bytes expires a day after the last bytes arrived', async (t) => {
  const clock = settableClock();
  const { tus } = await startWithShare(t, {}, { replacements: { ports: { clock } } });
  const address = await tus.begin('a', 6);
  clock.advance(10 * minute);
  await tus.patch(address, 0, 'abc');
  clock.advance(23 * hour);
  assert.equal(await tus.offset(address), 3);
  clock.advance(2 * hour);
  assert.equal((await tus.send('HEAD', address)).status, 404);
  assert.equal((await tus.patch(address, 3, 'def')).status, 404);
});

test('a client that cannot send PATCH, HEAD or DELETE can name the method in a header', async (t) => {
  const { tus, postern } = await startWithShare(t);
  const address = await tus.begin('a', 3);
  const headers = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
  assert.equal((await tus.send('POST', address, { ...headers, 'x-http-method-override': 'PATCH' }, 'abc')).status, 204);
  assert.equal(await readFile(join(postern.files, 'a'), 'utf8'), 'abc');
  const other = await tus.begin('b', 3);
  assert.equal((await tus.send('POST', other, { 'x-http-method-override': 'HEAD' })).headers['upload-offset'], '0');
  assert.equal((await tus.send('POST', other, { 'x-http-method-override': 'DELETE' })).status, 204);
  assert.equal((await tus.send('POST', other, { 'x-http-method-override': 'GET' })).status, 405);
});

test('an upload belongs to the visitor who began it: for other visitors it does not exist', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const { base } = await createShare(postern, { authenticationId: profile.id, allowAllUsers: true });
  const [ann, bob] = [
    tusClient(postern, base, await signIn(postern, base, 'ann')),
    tusClient(postern, base, await signIn(postern, base, 'bob')),
  ];
  const address = await ann.begin('a', 3);
  for (const method of ['HEAD', 'DELETE']) assert.equal((await bob.send(method, address)).status, 404, method);
  assert.equal((await bob.patch(address, 0, 'xyz')).status, 404);
  assert.equal((await tusClient(postern, base).patch(address, 0, 'xyz')).status, 401);
  const otherLink = await createShare(postern, { authenticationId: profile.id, allowAllUsers: true });
  const elsewhere = address.replace(base, otherLink.base);
  assert.equal(
    (await tusClient(postern, otherLink.base, await signIn(postern, otherLink.base, 'ann')).patch(elsewhere, 0, 'xyz')).status,
    404,
  );
  assert.equal((await ann.patch(address, 0, 'abc')).status, 204);
});

test('an upload can continue in a new session of the same visitor', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann']);
  const { base } = await createShare(postern, { authenticationId: profile.id, allowAllUsers: true });
  const address = await tusClient(postern, base, await signIn(postern, base, 'ann')).begin('a', 6);
  await tusClient(postern, base, await signIn(postern, base, 'ann')).patch(address, 0, 'abc');
  assert.equal((await tusClient(postern, base, await signIn(postern, base, 'ann')).patch(address, 3, 'def')).status, 204);
});

test('an upload in parts causes a single alert, once it is complete', async (t) => {
  const { postern, tus } = await startWithShare(t, { alertUpload: true, notifyEmails: 'owner@example.com' }, { environment: mailSettings });
  const address = await tus.begin('a', 6);
  await tus.patch(address, 0, 'abc');
  const alerts = async () => (await postern.ports.store.read.selectFrom('alert').selectAll().execute()).length;
  assert.equal(await alerts(), 0);
  await tus.patch(address, 3, 'def');
  assert.equal(await alerts(), 1);
});

test('one network cannot leave more than 200 unfinished uploads at a link', async (t) => {
  const { tus } = await startWithShare(t);
  for (let index = 0; index < 200; index += 1) await tus.begin(`f${index}`, 10);
  const refusal = await tus.announce('more', 10);
  assert.equal(refusal.status, 503);
  assert.equal(refusal.json.code, 'uploadsBusy');
});

/** Begins an upload, and adds copies of its row. @returns the row of the upload */
async function addUploads(postern: TestPostern, tus: ReturnType<typeof tusClient>, count: number, change: (index: number) => object) {
  const { store } = postern.ports;
  await tus.begin('first', 10, { 'x-forwarded-for': '203.0.113.8' });
  const row = await store.read.selectFrom('resumable_upload').selectAll().executeTakeFirstOrThrow();
  const rows = Array.from({ length: count }, (_, index) => ({ ...row, id: `id-${index}`, token: `token-${index}`, ...change(index) }));
  for (let start = 0; start < rows.length; start += 100)
    await store.write(
      (tx) =>
        tx
          .insertInto('resumable_upload')
          .values(rows.slice(start, start + 100))
          .execute(),
      'job',
    );
  return row;
}

const idsOfUploads = async ({ ports: { store } }: TestPostern) =>
  (await store.read.selectFrom('resumable_upload').select('id').execute()).map(({ id }) => id);

test('at a link with a thousand unfinished uploads, another network can begin an upload: among the networks with idle uploads, the network with the most uploads loses the upload with the fewest received bytes', async (t) => {
  const { postern, base } = await startWithShare(t, {}, { environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1' } });
  const tus = tusClient(postern, base);
  const row = await addUploads(postern, tus, 999, (index) => {
    // All uploads of the network with the most uploads are being received, so none of them can be deleted.
    const holder = index < 350 ? 'another process' : null;
    const network = holder ? '198.51.100.0' : index < 650 ? '203.0.113.128' : `192.0.2.${index}`;
    return { network, wide_network: network, received: index === 407 ? 4 : 5, holder };
  });
  const [stagingFile = ''] = await stagedNames(postern);
  await writeFile(join(postern.files, '.postern', stagingFile.replace(row.token, 'token-407')), 'abcd');
  assert.equal((await tus.announce('new', 10, { 'x-forwarded-for': '203.0.113.9' })).status, 201);
  assert.deepEqual(
    (await stagedNames(postern)).filter((name) => name.includes('token-407')),
    [],
  );
  const ids = await idsOfUploads(postern);
  assert.deepEqual([ids.length, ids.includes('id-407'), ids.includes(row.id)], [1000, false, true]);
});

test('at a location with five thousand unfinished uploads, a new one at any link replaces the upload with the fewest received bytes of the network with the most uploads', async (t) => {
  const { postern, base } = await startWithShare(t, {}, { environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1' } });
  const tus = tusClient(postern, base);
  // Each of the other links has fewer uploads than the limit of one link.
  const row = await addUploads(postern, tus, 4999, (index) => {
    const network = index < 3000 ? wideNetworkOf('203.0.113.8') : `192.0.2.${index}`;
    return { share_id: 1000 + (index % 100), network, wide_network: network, received: 5 };
  });
  assert.equal((await tus.announce('new', 10, { 'x-forwarded-for': '198.51.100.9' })).status, 201);
  const ids = await idsOfUploads(postern);
  assert.deepEqual([ids.length, ids.includes(row.id)], [5000, false], 'no bytes of the deleted upload had arrived');
  const { status, json } = await tus.announce('more', 10, { 'x-forwarded-for': '203.0.113.129' });
  assert.deepEqual([status, json.code], [503, 'uploadsBusy'], 'the network with the most uploads must wait');
});

test('an upload that has received no bytes expires after 15 minutes', async (t) => {
  const clock = settableClock();
  const { tus } = await startWithShare(t, {}, { replacements: { ports: { clock } } });
  const address = await tus.begin('a', 6);
  clock.advance(16 * minute);
  assert.equal((await tus.patch(address, 0, 'abc')).status, 404);
});

test('a part that the storage fails to sync does not count, even if the next sync succeeds', async (t) => {
  const disk = { fails: false };
  const postern = await startWithStorages(t, (method) => {
    if (method !== 'upload.sync' || !disk.fails) return;
    disk.fails = false;
    throw new StorageUnavailable('the disk reported an error');
  });
  const { base } = await createShare(postern);
  const tus = tusClient(postern, base);
  const address = await tus.begin('a', 6);
  await tus.patch(address, 0, 'abc');
  disk.fails = true;
  assert.equal((await tus.patch(address, 3, 'de')).status, 503);
  assert.equal(await tus.offset(address), 3);
});

test('if a request that creates an upload in parts has a body, its connection is closed after the response', async (t) => {
  const { base, postern } = await startWithShare(t);
  const { hostname, port } = new URL(postern.publicUrl);
  const headers = { 'tus-resumable': '1.0.0', 'upload-length': '5', 'upload-metadata': metadataOf('a'), 'content-length': '100000000000' };
  const creation = request({ hostname, port, path: `${base}/upload`, method: 'POST', headers, agent: false });
  creation.on('error', () => {});
  creation.write('x');
  const [response] = await once(creation, 'response');
  assert.equal(response.statusCode, 201);
  await once(creation, 'close');
});

test('share/unfinishedUploads lists the uploads that visitors have begun and not completed', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann']);
  const { id, base } = await createShare(postern, { authenticationId: profile.id, allowAllUsers: true });
  const tus = tusClient(postern, base, await signIn(postern, base, 'ann'));
  const address = await tus.begin('film.mp4', 6);
  await tus.patch(address, 0, 'abc');
  const { list } = await postern.call('share/unfinishedUploads', { id });
  assert.deepEqual(
    list.map(({ expiresDateTime: _, ...upload }: { expiresDateTime: string }) => upload),
    [{ path: '/film.mp4', visitor: 'ann', size: 6, received: 3 }],
  );
  assert.ok(Date.parse(list[0].expiresDateTime) > Date.now() + 23 * hour);
  await tus.patch(address, 3, 'def');
  assert.deepEqual((await postern.call('share/unfinishedUploads', { id })).list, []);
  assert.equal((await postern.send('share/unfinishedUploads', { id: 999 })).status, 404);
});
