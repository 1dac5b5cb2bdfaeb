import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { startWithBlockedMethod, startWithStorages } from '../parts/intercepted-postern.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

test('the requests of one connection run one at a time, each after the response to the request before it', {
  timeout: 20_000,
}, async (t) => {
  const { postern, calls: pages, release } = await startWithBlockedMethod(t, 'storage.page');
  const { base } = await createShare(postern);
  const { hostname, port } = new URL(postern.publicUrl);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  let answers = '';
  socket.setEncoding('latin1').on('data', (text) => {
    answers += text;
  });
  const request = (index: number) => `GET ${base}/list?startIndex=${index} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`;
  socket.write(Array.from({ length: 8 }, (_, index) => request(index)).join(''));
  await until(() => pages() > 0);
  assert.equal((await postern.visit(`${base}/visit`)).status, 200);
  assert.equal(pages(), 1);
  release();
  await until(() => answers.split('HTTP/1.1 200').length === 9);
  assert.equal(pages(), 8);
});

test('an archive of the same files in another order counts as the same download, with one short audit entry', async (t) => {
  const postern = await startPostern(t);
  const { base, id } = await createShare(postern);
  await mkdir(join(postern.files, 'many'), { recursive: true });
  const names = Array.from({ length: 40 }, (_, index) => `${'n'.repeat(100)}-${index}`);
  for (const name of names) await writeFile(join(postern.files, 'many', name), 'a text');
  const downloadArchive = (chosenNames: readonly string[]) =>
    postern.visit(`${base}/zip/many?${chosenNames.map((name) => `name=${name}`).join('&')}`);
  const tags = new Set<string | null>();
  for (const chosenNames of [names, names.toReversed(), [...names, ...names]])
    tags.add((await downloadArchive(chosenNames)).headers.get('etag'));
  assert.equal(tags.size, 1);
  await until(async () => (await postern.call('audit/search', { shareId: id, action: 'downloadFolder' })).totalCount === 1);
  const { list } = await postern.call('audit/search', { shareId: id, action: 'downloadFolder' });
  assert.ok(JSON.stringify(list[0]).length < 3000);
  assert.equal(JSON.parse(list[0].after).count, 40);
});

test('at a link, the first thirty archives without an ETag from one site get an audit entry each, and further ones share one', async (t) => {
  const postern = await startPostern(t);
  const { base, id } = await createShare(postern, { digitalSignature: true });
  for (let round = 0; round < 40; round += 1) {
    assert.equal((await postern.visit(`${base}/zip`)).status, 200);
  }
  const entries = () => postern.call('audit/search', { shareId: id, action: 'downloadFolder', outcome: 'done' });
  await until(async () => (await entries()).totalCount === 31);
  for (const { after } of (await entries()).list) assert.equal(after, null, 'each entry is for the entire folder');
});

test('for one network at a link, one archive is planned at a time and sixteen wait; further ones get 503, and listings still work', {
  timeout: 30_000,
}, async (t) => {
  const { postern, calls: listCalls, release } = await startWithBlockedMethod(t, 'storage.list');
  const { base } = await createShare(postern);
  const answers = Array.from({ length: 30 }, () => fetch(`${postern.publicUrl}${base}/zip`, { method: 'HEAD' }));
  const refusals: number[] = [];
  for (const answer of answers) void answer.then(({ status }) => status === 503 && refusals.push(status));
  await until(() => refusals.length === 13); // 1 is planned and 16 wait
  assert.equal(listCalls(), 1);
  assert.equal((await postern.visit(`${base}/list`)).status, 200);
  release();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 17);
});

test('the check whether files of a large archive need a signature does not block other archives', async (t) => {
  let openCalls = 0;
  const postern = await startWithStorages(t, (method) => {
    if (method === 'storage.open') openCalls += 1;
  });
  await mkdir(join(postern.files, 'many'));
  for (let number = 0; number < 2000; number += 1) await writeFile(join(postern.files, `many/${number}`), 'text');
  await mkdir(join(postern.files, 'one'));
  const signedShare = await createShare(postern, { path: '/many', digitalSignature: true });
  const other = await createShare(postern, { path: '/one' });
  const head = (base: string) => fetch(`${postern.publicUrl}${base}/zip`, { method: 'HEAD' });
  const longRequests = [head(signedShare.base), head(signedShare.base)];
  await until(() => openCalls > 0);
  assert.equal((await head(other.base)).status, 200);
  assert.ok(openCalls < 2000, `${openCalls} files were opened before the other archive`);
  for (const { status } of await Promise.all(longRequests)) assert.equal(status, 200);
  assert.equal(openCalls, 4000);
});

test('planning an archive of thousands of folders does not block other archives', async (t) => {
  let listCalls = 0;
  const postern = await startWithStorages(t, (method) => {
    if (method === 'storage.list') listCalls += 1;
  });
  for (let number = 0; number < 2000; number += 1) await mkdir(join(postern.files, `many/${number}`), { recursive: true });
  await mkdir(join(postern.files, 'one'));
  const [largeFolderShare, other] = [await createShare(postern, { path: '/many' }), await createShare(postern, { path: '/one' })];
  const head = (base: string) => fetch(`${postern.publicUrl}${base}/zip`, { method: 'HEAD' });
  const longRequests = [head(largeFolderShare.base), head(largeFolderShare.base)];
  await until(() => listCalls > 20);
  assert.equal((await head(other.base)).status, 200);
  assert.ok(listCalls < 2000, `${listCalls} folders were listed before the other archive`);
  const tags = (await Promise.all(longRequests)).map(({ headers }) => headers.get('etag'));
  assert.ok(tags[0]);
  assert.equal(tags[0], tags[1]);
});

test('the folder creations of one network wait in a bounded queue and do not block those of other networks', {
  timeout: 30_000,
}, async (t) => {
  let createCalls = 0;
  const gates: (() => void)[] = [];
  const postern = await startWithStorages(
    t,
    (method) => {
      if (method !== 'storage.createFolder') return undefined;
      createCalls += 1;
      return new Promise<void>((resolve) => gates.push(resolve));
    },
    { environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1' } },
  );
  const { base } = await createShare(postern);
  const createFolder = async (name: string, address: string) =>
    (await postern.visit(`${base}/folder/${name}`, { method: 'POST', headers: { 'x-forwarded-for': address } })).status;
  const refusals: number[] = [];
  const crowd = Array.from({ length: 2 + 256 + 5 }, (_, number) => createFolder(`crowd-${number}`, '203.0.113.7'));
  for (const answer of crowd) void answer.then((status) => status === 503 && refusals.push(status));
  await until(() => refusals.length === 5 && createCalls === 2);
  const stranger = createFolder('stranger', '198.51.100.9');
  await until(() => createCalls === 3); // two of the four places are left for other networks
  assert.equal((await postern.visit(`${base}/list`)).status, 200);
  const openGate = async () => {
    t.signal.throwIfAborted(); // otherwise a failed test would keep its process running
    gates.shift()?.();
    await new Promise(setImmediate);
  };
  let isAnswered = false;
  void stranger.then(() => {
    isAnswered = true;
  });
  while (!isAnswered) await openGate();
  assert.equal(await stranger, 201);
  assert.ok(createCalls < 40, `${createCalls} folders were created before the folder of the other network`);
  while (createCalls < 2 + 256 + 1 || gates.length > 0) await openGate();
  assert.equal((await Promise.all(crowd)).filter((status) => status === 201).length, 258);
});

test('an archive and a range of it are sent completely while many other clients do not read their archives', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'box'));
  const content = Buffer.alloc(900 * 1024);
  for (let at = 0; at < content.length; at += 4) content.writeUInt32LE(at, at);
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await writeFile(join(postern.files, 'box', name), content);
  const { base } = await createShare(postern, { path: '/box' });
  const { hostname, port } = new URL(postern.publicUrl);
  const expectedArchive = await sendPath(postern, `${base}/zip`);
  for (let number = 0; number < 64; number += 1) {
    const socket = connect(Number(port), hostname);
    atEnd(t, () => socket.destroy());
    socket.write(`GET ${base}/zip HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
    await once(socket, 'readable');
  }
  const archive = await sendPath(postern, `${base}/zip`);
  assert.ok(archive.bytes.equals(expectedArchive.bytes));
  const range = { range: `bytes=${1 << 20}-${3 << 20}` };
  const part = await sendPath(postern, `${base}/zip`, { headers: range });
  assert.equal(part.status, 206);
  assert.ok(part.bytes.equals(expectedArchive.bytes.subarray(1 << 20, (3 << 20) + 1)));
});
