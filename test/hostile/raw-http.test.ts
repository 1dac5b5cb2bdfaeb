import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { logLines } from '../parts/log-lines.ts';
import { adminKey, newShare, startPostern, type TestPostern } from '../start.ts';
import { dial, sendRaw, sendRequest, statuses, statusOf } from './raw-socket.ts';

const assertRunning = async (postern: TestPostern) => assert.equal((await postern.visit('/health/live')).status, 200);
const key = `Authorization: Bearer ${adminKey}`;
const json = 'Content-Type: application/json';

test('malformed HTTP gets a problem document or no response, and the server keeps running', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const { host } = new URL(postern.publicUrl);
  const lines = [
    'GARBAGE',
    'GET',
    'GET /',
    'get / HTTP/1.1',
    'GET / HTTP/9.9',
    'GET / HTTP/1.1 extra',
    'GET /\0 HTTP/1.1',
    '\x16\x03\x01\x02\x00',
    `GET / HTTP/1.1\r\nHost: ${host}\r\nNo colon`,
    `GET / HTTP/1.1\r\nHost : ${host}`,
    `GET / HTTP/1.1\r\nHost: ${host}\r\n folded: x`,
    `GET / HTTP/1.1\r\nHost: ${host}\r\nX: a\0b`,
    `GET / HTTP/1.1\nHost: ${host}\nX: a\rb`,
    `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: -1`,
    `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1e3`,
    `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 99999999999999999999`,
  ];
  for (const line of lines) {
    const answer = await sendRaw(postern.publicUrl, `${line}\r\nConnection: close\r\n\r\n`);
    const status = statusOf(answer);
    assert.ok(answer === '' || (status >= 400 && status < 500), `${JSON.stringify(line)}: ${answer.slice(0, 200)}`);
    if (answer !== '') assert.match(answer, /application\/problem\+json/, JSON.stringify(line));
  }
  await assertRunning(postern);
});

test('a request with two Host headers is refused', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const answer = await sendRequest(postern.publicUrl, 'GET /health/live', ['Host: evil.example']); // RFC 9112, 3.2
  assert.equal(statusOf(answer), 400);
});

test('a chunked body in HTTP/1.0 is refused, and the connection is closed', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const request = ['POST /s/none/sign-in HTTP/1.0', 'Host: a', 'Connection: keep-alive', 'Transfer-Encoding: chunked', '', '0', '', ''];
  const answer = await sendRaw(postern.publicUrl, `${request.join('\r\n')}GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n`);
  assert.deepEqual(statuses(answer), [400]);
});

test('a request without a Host header is refused with a problem document', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const answer = await sendRaw(postern.publicUrl, 'GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n');
  assert.equal(statusOf(answer), 400);
  assert.match(answer, /application\/problem\+json/);
});

test('headers that are too large get 431 or no response, and many headers do not stop the server', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const huge = await sendRequest(postern.publicUrl, 'GET /health/live', [`X-Large: ${'x'.repeat(200_000)}`]);
  assert.ok(huge === '' || statusOf(huge) === 431, huge.slice(0, 100));
  const many = await sendRequest(
    postern.publicUrl,
    'GET /health/live',
    Array.from({ length: 1500 }, (_, index) => `X${index}: y`),
  );
  assert.ok([200, 431].includes(statusOf(many)), many.slice(0, 100));
  await assertRunning(postern);
});

test('a request with an ambiguous length is refused, and no second request is smuggled in', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  const { host } = new URL(postern.publicUrl);
  const smuggledRequest = `DELETE /s/${viewId}/file/welcome.txt HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const bodies = [
    ['Content-Length: 4', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', `Content-Length: ${smuggledRequest.length + 5}`],
    ['Content-Length: 0', `Content-Length: ${smuggledRequest.length}`],
    ['Transfer-Encoding: xchunked'],
    ['Transfer-Encoding: chunked, identity'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
    ['Transfer-Encoding:\x0bchunked'],
    ['Transfer-Encoding : chunked'],
    [`Content-Length: 0,${smuggledRequest.length}`],
    ['Content-Length: +0'],
  ];
  for (const headers of bodies)
    for (const line of [`PUT /s/${viewId}/file/new`, `POST /s/${viewId}/rename`, `GET /s/${viewId}/visit`]) {
      const answer = await sendRaw(
        postern.publicUrl,
        [`${line} HTTP/1.1`, `Host: ${host}`, ...headers, '', `0\r\n\r\n${smuggledRequest}`].join('\r\n'),
      );
      assert.deepEqual(
        statuses(answer).filter((status) => status < 400),
        [],
        `${line} ${headers}: ${answer.slice(0, 200)}`,
      );
    }
  const { body } = await postern.visit(`/s/${viewId}/list`);
  assert.deepEqual(
    body.entries.map(({ name }: { name: string }) => name),
    ['welcome.txt'],
  );
});

test('a malformed chunked body leaves no file', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  const bodies = [
    'zz\r\nabc\r\n0\r\n\r\n',
    '-1\r\nabc\r\n0\r\n\r\n',
    'FFFFFFFFFFFFFFFFFF\r\nabc',
    '3\r\nabcdef\r\n0\r\n\r\n',
    '3\r\nabc\r\n0\r\nBad\r\n\r\n',
    '3;a=\0\r\nabc\r\n0\r\n\r\n',
  ];
  for (const [index, body] of bodies.entries()) {
    const answer = await sendRequest(postern.publicUrl, `PUT /s/${viewId}/file/chunked-${index}`, ['Transfer-Encoding: chunked'], body);
    assert.ok(![200, 201].includes(statusOf(answer)), `${JSON.stringify(body)}: ${answer.slice(0, 100)}`);
  }
  const { body } = await postern.visit(`/s/${viewId}/list`);
  assert.deepEqual(
    body.entries.map(({ name }: { name: string }) => name),
    ['welcome.txt'],
  );
});

test('a refused upload does not get 100 Continue', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare({ canUpload: false }));
  const answer = await sendRequest(postern.publicUrl, `PUT /s/${viewId}/file/new`, ['Expect: 100-continue', 'Content-Length: 1000000']);
  assert.deepEqual(statuses(answer), [403]);
});

test('a client gets the refusal while it is still sending its upload, and can reuse the connection', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare({ canUpload: false }));
  const socket = await dial(postern.publicUrl);
  atEnd(t, () => socket.destroy());
  const host = `Host: ${new URL(postern.publicUrl).host}`;
  socket.write([`PUT /s/${viewId}/file/new HTTP/1.1`, host, 'Content-Length: 8', '', 'half'].join('\r\n'));
  const [refusal] = await once(socket, 'data');
  assert.equal(statusOf(String(refusal)), 403);
  socket.write([`moreGET /s/${viewId}/visit HTTP/1.1`, host, '', ''].join('\r\n'));
  const [visit] = await once(socket, 'data');
  assert.equal(statusOf(String(visit)), 200);
});

test('a permitted upload gets 100 Continue exactly once', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  const answer = await sendRequest(postern.publicUrl, `PUT /s/${viewId}/file/new`, ['Expect: 100-continue', 'Content-Length: 4'], 'text');
  assert.deepEqual(statuses(answer), [100, 201]);
});

test('an Expect header other than 100-continue is answered with 417 and a problem document', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  for (const expectation of ['cake', '100-continue, cake']) {
    const answer = await sendRequest(
      postern.publicUrl,
      `PUT /s/${viewId}/file/new`,
      [`Expect: ${expectation}`, 'Content-Length: 4'],
      'text',
    );
    assert.deepEqual(statuses(answer), [417], expectation);
    assert.match(answer, /"The Expect header supports only 100-continue"/);
  }
});

test('a POST, PUT or DELETE request without Content-Length and Transfer-Encoding has an empty body', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  const add = await sendRequest(postern.apiUrl, 'POST /api/v1/share/add', [key, json]);
  assert.equal(statusOf(add), 400, add);
  assert.match(add, /title is required/);
  assert.equal(statusOf(await sendRequest(postern.apiUrl, 'POST /api/v1/share/add', [key])), 400);
  const put = await sendRequest(postern.publicUrl, `PUT /s/${viewId}/file/empty.txt`);
  assert.equal(statusOf(put), 201, put);
  assert.match(put, /"size":0/);
  const rename = await sendRequest(postern.publicUrl, `POST /s/${viewId}/rename`, [json]);
  assert.equal(statusOf(rename), 400, rename);
  assert.equal(statusOf(await sendRequest(postern.publicUrl, `DELETE /s/${viewId}/file/empty.txt`, [json])), 204);
});

test('JSON bodies that are too large, too deeply nested or invalid are refused', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const add = async (body: string, headers = [`Content-Length: ${Buffer.byteLength(body)}`]) =>
    sendRequest(postern.apiUrl, 'POST /api/v1/share/add', [key, json, ...headers], body);
  const bodyOfSize = (size: number) => `{"title":"${'x'.repeat(size - 12)}"}`;
  assert.equal(statusOf(await add(bodyOfSize(1 << 20))), 400);
  assert.equal(statusOf(await add(bodyOfSize((1 << 20) + 1))), 413);
  const large = bodyOfSize((1 << 20) + 1);
  assert.ok(
    [413, 0].includes(statusOf(await add(`${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`, ['Transfer-Encoding: chunked']))),
  );
  for (const depth of [500, 5_000, 50_000, 500_000])
    for (const body of [`${'['.repeat(depth)}${']'.repeat(depth)}`, `{"title":${'{"a":'.repeat(depth / 5)}1${'}'.repeat(depth / 5)}}`])
      assert.equal(statusOf(await add(body)), 400, `${depth}`);
  for (const body of [
    '',
    '{',
    'null',
    '[]',
    '"text"',
    '\ufeff{}',
    '{"title":"\\ud800"}',
    '{"__proto__":{"active":true}}',
    '{"constructor":{"prototype":{"a":1}}}',
    '{"title":"a\\u0000b"}',
  ])
    assert.equal(statusOf(await add(body)), 400, body);
  const share = JSON.stringify(newShare());
  const duplicateMember = await add(`${share.slice(0, -1)},"active":false}`);
  assert.ok([200, 400].includes(statusOf(duplicateMember)));
  assert.equal(Reflect.get({}, 'active'), undefined);
  await assertRunning(postern);
});

const hostilePaths = [
  '..%2f..%2fsecret-key',
  '%2e%2e/secret-key',
  '../secret-key',
  '..',
  '..%5csecret-key',
  '..\\secret-key',
  '%c0%ae%c0%ae/secret-key',
  '%e0%80%ae',
  '..;/secret-key',
  '%2e%2e%2f',
  './secret-key',
  'a//b',
  '/',
  '//',
  '%00',
  'a%00.txt',
  '%0a',
  '%ff',
  '%',
  '%zz',
  '.postern',
  '.POSTERN',
  '%2epostern/x',
  '.postern-x',
  '%EF%BC%8Epostern',
  'welcome.txt/..',
  'welcome.txt/../../secret-key',
  '%2fetc%2fpasswd',
  'a/%2e',
  'x'.repeat(300),
  `${'d/'.repeat(5000)}x`,
];

test('no encoding of a path leads outside the share on any route', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  const secret = readFileSync(`${postern.data}/secret-key`, 'utf8');
  const routes = [
    `GET /s/${viewId}/file/`,
    `GET /s/${viewId}/view/`,
    `GET /s/${viewId}/list/`,
    `GET /s/${viewId}/zip/`,
    `HEAD /s/${viewId}/file/`,
    `PUT /s/${viewId}/file/`,
    `POST /s/${viewId}/folder/`,
    `DELETE /s/${viewId}/file/`,
    'GET /s/',
    'GET /',
  ];
  const wrong: string[] = [];
  for (const path of hostilePaths)
    for (const route of routes) {
      const answer = await sendRequest(postern.publicUrl, route + path, ['Content-Length: 0']);
      const status = statusOf(answer);
      const isRefused = route.includes(viewId) ? [400, 403, 404, 405, 409, 414, 431].includes(status) : status < 500;
      if (!isRefused || answer.includes(secret)) wrong.push(`${route}${path.slice(0, 40)}: ${status}`);
    }
  assert.deepEqual(wrong, []);
  const { body } = await postern.visit(`/s/${viewId}/list`);
  assert.deepEqual(
    body.entries.map(({ name }: { name: string }) => name),
    ['welcome.txt'],
  );
});

test('a path is decoded only once: a path that is encoded twice is an ordinary file name in the share', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  assert.equal(
    statusOf(await sendRequest(postern.publicUrl, `PUT /s/${viewId}/file/%252e%252e%252fname`, ['Content-Length: 1'], 'x')),
    201,
  );
  const { body } = await postern.visit(`/s/${viewId}/list`);
  assert.deepEqual(
    body.entries.map(({ name }: { name: string }) => name),
    ['%2e%2e%2fname', 'welcome.txt'],
  );
});

test('no encoding of a path causes a server error at /assets/ or /docs/', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  for (const path of hostilePaths)
    for (const line of ['GET /assets/', 'GET /docs/'])
      assert.ok(statusOf(await sendRequest(postern.publicUrl, line + path)) < 500, `${line}${path}`);
});

test('connections that are cut during a request leave no partial file and no pending action', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  const host = `Host: ${new URL(postern.publicUrl).host}`;
  const requests = [
    'GET /s/',
    `GET /s/${viewId}/zip HTTP/1.1\r\n${host}\r\n\r\n`,
    `GET /s/${viewId}/file/welcome.txt HTTP/1.1\r\n${host}\r\n\r\n`,
    `PUT /s/${viewId}/file/cut HTTP/1.1\r\n${host}\r\nContent-Length: 3000000\r\n\r\n${'x'.repeat(1_500_000)}`,
    `PUT /s/${viewId}/file/cut HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab`,
    `POST /s/${viewId}/rename HTTP/1.1\r\n${host}\r\n${json}\r\nContent-Length: 100\r\n\r\n{"pa`,
  ];
  for (let round = 0; round < 5; round += 1)
    await Promise.all(
      requests.map(async (text) => {
        const socket = await dial(postern.publicUrl);
        await new Promise((resolve) => socket.write(text, resolve));
        socket.resetAndDestroy();
      }),
    );
  // Waits until the outcome of every upload is recorded.
  for (let pendingCount = 1; pendingCount > 0; ) pendingCount = (await postern.call('audit/search', { outcome: 'begun' })).totalCount;
  const { body } = await postern.visit(`/s/${viewId}/list`);
  assert.deepEqual(
    body.entries.map(({ name }: { name: string }) => name),
    ['welcome.txt'],
  );
  await assertRunning(postern);
});

test('connections that are reset before a response are not logged as errors', { timeout: 30_000 }, async (t) => {
  const { log, errors } = logLines();
  const postern = await startPostern(t, { replacements: { log }, environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1' } });
  const { viewId } = await postern.call('share/add', newShare());
  const text = `GET /s/${viewId}/visit HTTP/1.1\r\nHost: ${new URL(postern.publicUrl).host}\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n`;
  for (let round = 0; round < 20; round += 1)
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = await dial(postern.publicUrl);
        await new Promise((resolve) => socket.write(text, resolve));
        socket.resetAndDestroy();
      }),
    );
  await assertRunning(postern);
  assert.deepEqual(errors(), []);
});

test('a request that asks for another protocol is served, and then its connection is closed', { timeout: 15_000 }, async (t) => {
  const postern = await startPostern(t);
  const upgrade = ['GET /health/live HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket', '', ''].join('\r\n');
  const answer = await sendRaw(postern.publicUrl, `${upgrade}GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n`);
  assert.deepEqual(statuses(answer), [200]);
  assert.match(answer, /^connection: close/im);
});
