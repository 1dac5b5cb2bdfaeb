// Clients that send or read nothing or too slowly, and clients that send too many requests on a connection.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { open, readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { until } from '../ports/until.ts';
import { adminKey, startPostern, type TestPostern } from '../start.ts';
import { createShare, sendPath } from '../visit/visiting.ts';
import { dial, sendRequest, statusOf } from './raw-socket.ts';

const day = 86_400_000; // ms
const anyRate = { bytes: 0, within: day };
const shortTimeouts = { body: 200, idle: 200, minRate: anyRate };

async function sendHead(t: TestContext, postern: TestPostern, line: string, headers: readonly string[] = []) {
  const socket = await dial(postern.apiUrl);
  atEnd(t, () => socket.destroy());
  socket.write([`${line} HTTP/1.1`, `Host: ${new URL(postern.publicUrl).host}`, ...headers, '', ''].join('\r\n'));
  return socket;
}

const outcomes = async (postern: TestPostern, action: string): Promise<string[]> =>
  (await postern.call('audit/search', { action, pageSize: 200 })).list.map(({ outcome }: { outcome: string }) => outcome);

test('a request whose JSON body does not arrive in time gets 408, and its connection is closed', { timeout: 10_000 }, async (t) => {
  const postern = await startPostern(t, { replacements: { timeouts: { body: 200, idle: day, minRate: anyRate } } });
  const { base } = await createShare(postern);
  for (const [line, ...headers] of [['POST /api/v1/share/get', `Authorization: Bearer ${adminKey}`], [`POST ${base}/sign-in`]]) {
    const head = [...headers, 'Content-Type: application/json', 'Content-Length: 100'];
    const answer = await sendRequest(postern.apiUrl, line ?? '', head, '{"id":');
    assert.equal(statusOf(answer), 408);
    assert.match(answer, /bodyTooSlow/);
  }
});

test('while 32 MiB of JSON bodies of one network are arriving, further bodies of the network get 503', {
  timeout: 10_000,
}, async (t) => {
  const postern = await startPostern(t, { replacements: { timeouts: { body: day, idle: day, minRate: anyRate } } });
  const head = [`Authorization: Bearer ${adminKey}`, 'Content-Type: application/json', `Content-Length: ${1 << 20}`];
  const sockets: Socket[] = [];
  for (let count = 0; count < 40; count += 1) sockets.push(await sendHead(t, postern, 'POST /api/v1/share/get', head));
  const nextStatus = async () => statusOf(await sendRequest(postern.apiUrl, 'POST /api/v1/share/get', head, '{', AbortSignal.timeout(500)));
  await until(async () => (await nextStatus()) === 503);
  assert.equal((await postern.send('share/search')).status, 200);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await nextStatus()) !== 503); // no response, because the request waits for its body
});

test('a body for an address that accepts none is refused before it arrives, with every method', { timeout: 10_000 }, async (t) => {
  const postern = await startPostern(t, { replacements: { timeouts: { body: day, idle: day, minRate: anyRate } } });
  const head = ['Content-Type: application/json', 'Content-Length: 1000000'];
  for (const [target, status] of [
    ['/console', 405],
    ['/console/shares', 405],
    ['/docs', 404],
    ['/none', 404],
  ] as const)
    for (const method of ['POST', 'PUT', 'DELETE'])
      assert.equal(statusOf(await sendRequest(postern.apiUrl, `${method} ${target}`, head, '{"id":')), status, `${method} ${target}`);
});

test('an upload that stalls is aborted, and no part of it is kept', { timeout: 10_000 }, async (t) => {
  const postern = await startPostern(t, { replacements: { timeouts: { body: day, idle: 200, minRate: anyRate } } });
  const { base } = await createShare(postern);
  const socket = await sendHead(t, postern, `PUT ${base}/file/half.bin`, ['Content-Length: 1000']);
  socket.write('half');
  await once(socket, 'close');
  await until(async () => (await outcomes(postern, 'upload'))[0] === 'failed');
  assert.ok(!(await readdir(postern.files)).includes('half.bin'));
});

test('a download that the client does not read is aborted and recorded as failed', { timeout: 10_000 }, async (t) => {
  const postern = await startPostern(t, { replacements: { timeouts: { body: day, idle: 200, minRate: anyRate } } });
  const { base } = await createShare(postern);
  const file = await open(join(postern.files, 'large.bin'), 'w');
  await file.truncate(2 ** 30);
  await file.close();
  await sendHead(t, postern, `GET ${base}/file/large.bin`); // never reads the response
  await until(async () => (await outcomes(postern, 'download'))[0] === 'failed');
});

test('a connection is closed if its client does not read the responses', { timeout: 10_000 }, async (t) => {
  const postern = await startPostern(t, { replacements: { timeouts: shortTimeouts } });
  const sockets = async (): Promise<number> => {
    const metrics = await fetch(`${postern.apiUrl}/metrics`, { headers: { authorization: `Bearer ${adminKey}`, connection: 'close' } });
    return Number(/^nodejs_active_resources\{type="TCPSocketWrap"\} (\d+)/m.exec(await metrics.text())?.[1] ?? 0);
  };
  await (await fetch(`${postern.apiUrl}/docs/js/scalar.js`)).text();
  const before = await sockets();
  const socket = await dial(postern.apiUrl);
  atEnd(t, () => socket.destroy());
  socket.pause().write(`GET /docs/js/scalar.js HTTP/1.1\r\nHost: ${new URL(postern.apiUrl).host}\r\n\r\n`.repeat(14));
  await until(async () => (await sockets()) === before + 2); // both ends of the connection are in this process
  await until(async () => (await sockets()) === before + 1);
});

test('a connection stays open after a completed transfer', { timeout: 10_000 }, async (t) => {
  const postern = await startPostern(t, { replacements: { timeouts: shortTimeouts } });
  const { base } = await createShare(postern);
  const socket = await sendHead(t, postern, `PUT ${base}/file/a.txt`, ['Content-Length: 1']);
  let answers = '';
  socket.on('data', (chunk) => {
    answers += chunk.toString('latin1');
  });
  socket.write('x');
  await until(() => answers.includes(' 201 '));
  socket.write(`GET ${base}/file/a.txt HTTP/1.1\r\nHost: ${new URL(postern.publicUrl).host}\r\n\r\n`);
  await until(() => answers.includes(' 200 '));
  const slowUpload = await sendHead(t, postern, `PUT ${base}/file/half.bin`, ['Content-Length: 1000']);
  await once(slowUpload, 'close'); // takes longer than the idle timeout of the first connection
  assert.equal(socket.closed, false);
});

test('an upload with a complete body is not aborted while it is moved into place', { timeout: 10_000 }, async (t) => {
  const gate = Promise.withResolvers<void>();
  const holdPlace = (method: string) => (method === 'upload.place' ? gate.promise : undefined);
  const postern = await startWithStorages(t, holdPlace, { replacements: { timeouts: shortTimeouts } });
  const { base } = await createShare(postern);
  const upload = sendPath(postern, `${base}/file/whole.txt`, { method: 'PUT', body: 'whole' });
  const slowUpload = await sendHead(t, postern, `PUT ${base}/file/half.bin`, ['Content-Length: 1000']);
  await once(slowUpload, 'close'); // takes longer than the idle timeout of the first upload
  gate.resolve();
  assert.equal((await upload).status, 201);
});

test('an upload below the minimum rate is refused even if it never stalls', { timeout: 10_000 }, async (t) => {
  const postern = await startPostern(t, {
    replacements: { timeouts: { body: day, idle: day, minRate: { bytes: 2 ** 40, within: 100 } } },
  });
  const { base } = await createShare(postern);
  const socket = await sendHead(t, postern, `PUT ${base}/file/slow.bin`, ['Content-Length: 1000000000']);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1');
  });
  await until(() => {
    if (!socket.closed) socket.write('x');
    return answer.includes('bodyTooSlow');
  });
  assert.match(answer, /^HTTP\/1\.1 408 /);
  await until(async () => (await outcomes(postern, 'upload'))[0] === 'failed');
  assert.ok(!(await readdir(postern.files)).includes('slow.bin'));
});

test('open uploads of one network do not block uploads of other networks', { timeout: 20_000 }, async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1' } });
  const { base } = await createShare(postern);
  const from = (address: string) => ['Content-Length: 1000', `X-Forwarded-For: ${address}`];
  const openUploads = await Promise.all(
    Array.from({ length: 64 }, (_, index) => sendHead(t, postern, `PUT ${base}/file/${index}.bin`, from('203.0.113.1'))),
  );
  await until(async () => (await outcomes(postern, 'upload')).length === openUploads.length);
  const send = (address: string, name: string) =>
    sendPath(postern, `${base}/file/${name}`, { method: 'PUT', body: 'x', headers: { 'x-forwarded-for': address } });
  const refusal = await send('203.0.113.1', 'late.bin');
  assert.deepEqual([refusal.status, refusal.json.code], [503, 'uploadsBusy']);
  assert.equal((await send('203.0.113.2', 'other.bin')).status, 201);
  for (const socket of openUploads) socket.destroy();
  await until(async () => (await send('203.0.113.1', 'later.bin')).status === 201);
});

test('a connection with too many requests is closed, and at most 16 of them are processed', { timeout: 10_000 }, async (t) => {
  let openCalls = 0;
  const postern = await startWithStorages(t, (method) => {
    if (method !== 'storage.open') return undefined;
    openCalls += 1;
    return new Promise(() => {}); // no request is answered
  });
  const { base } = await createShare(postern);
  const socket = await dial(postern.apiUrl);
  atEnd(t, () => socket.destroy());
  const request = `GET ${base}/file/welcome.txt HTTP/1.1\r\nHost: ${new URL(postern.publicUrl).host}\r\n\r\n`;
  socket.write(request.repeat(200));
  await once(socket, 'close');
  assert.ok(openCalls <= 16, `${openCalls} files are opened`);
});

for (const [what, request] of [
  ['have a malformed address', 'GET /% HTTP/1.1'],
  ['have an unknown Expect header', 'GET / HTTP/1.1\r\nExpect: cake'],
  ['have no host', 'GET / HTTP/1.1'],
] as const)
  test(`a connection is closed if too many waiting requests on it ${what}`, { timeout: 10_000 }, async (t) => {
    const postern = await startWithStorages(t, (method) => (method === 'storage.open' ? new Promise(() => {}) : undefined));
    const { base } = await createShare(postern);
    const socket = await dial(postern.apiUrl);
    atEnd(t, () => socket.destroy());
    socket.write(`GET ${base}/file/welcome.txt HTTP/1.1\r\nHost: ${new URL(postern.publicUrl).host}\r\n\r\n`); // is not answered
    socket.write(`${request}\r\n\r\n`.repeat(200));
    await once(socket, 'close');
  });
