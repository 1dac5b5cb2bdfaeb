import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { guardedOutbound } from '../../src/adapters/net/guarded-outbound.ts';
import { packRangeText } from '../../src/core/authorization/address-range.ts';
import { ResponseTooLarge, TargetRefused, TargetUnreachable } from '../../src/ports/outbound.ts';
import { atEnd } from '../parts/at-end.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { writeSelfSigned } from '../parts/self-signed.ts';
import { temporaryFolder } from '../start.ts';
import { until } from './until.ts';

const loopback = packRangeText('127.0.0.0/8');

async function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port }: AddressInfo = Object(server.address());
  return port;
}

const isUnreachable = (reason: RegExp) => (cause: unknown) => cause instanceof TargetUnreachable && reason.test(cause.message);

const listenHttp = (t: TestContext, listener: RequestListener) => listen(t, createHttpServer(listener));

test('a private address is refused before a connection is opened, and the error names POSTERN_PRIVATE_TARGETS', async (t) => {
  let connections = 0;
  const port = await listen(
    t,
    createServer(() => {
      connections += 1;
    }),
  );
  await using outbound = guardedOutbound({ privateTargets: '' });
  for (const host of ['127.0.0.1', 'localhost'])
    await assert.rejects(
      outbound.connect({ host, port }),
      (cause: Error) => cause instanceof TargetRefused && /POSTERN_PRIVATE_TARGETS/.test(cause.message),
    );
  await assert.rejects(outbound.request(new URL(`http://127.0.0.1:${port}/`)), TargetRefused);
  await assert.rejects(outbound.request(new URL(`http://[::ffff:127.0.0.1]:${port}/`)), TargetRefused);
  assert.equal(connections, 0);
});

test('a host name is resolved once, and the connection goes to the address that was checked', async (t) => {
  const port = await listenHttp(t, (_request, response) => response.end('here'));
  const answers = [['127.0.0.1'], ['10.0.0.1']];
  let lookups = 0;
  const resolve = async () => {
    lookups += 1;
    return answers.shift() ?? [];
  };
  await using outbound = guardedOutbound({ privateTargets: loopback, resolve });
  const response = await outbound.request(new URL(`http://provider.example:${port}/`));
  assert.equal(Buffer.from(await response.read(100)).toString(), 'here');
  assert.equal(lookups, 1);
});

test('if a host name has several addresses, only allowed addresses are used', async (t) => {
  const port = await listenHttp(t, (_request, response) => response.end());
  await using outbound = guardedOutbound({
    privateTargets: packRangeText('127.0.0.1'),
    resolve: async () => ['169.254.169.254', '127.0.0.1'],
  });
  const { address, socket } = await outbound.connect({ host: 'provider.example', port });
  socket.destroy();
  assert.equal(address, '127.0.0.1');
});

test('a redirect is returned and not followed', async (t) => {
  const secret = await listenHttp(t, (_request, response) => response.end('secret'));
  const port = await listenHttp(t, (_request, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${secret}/` }).end();
  });
  await using outbound = guardedOutbound({ privateTargets: loopback });
  const response = await outbound.request(new URL(`http://127.0.0.1:${port}/`));
  assert.equal(response.status, 302);
  assert.equal(response.headers['location'], `http://127.0.0.1:${secret}/`);
  assert.equal((await response.read(100)).length, 0);
});

test('a TLS handshake with a server that accepts the connection and sends nothing times out', async (t) => {
  const port = await listen(
    t,
    createServer(() => {}),
  );
  await using outbound = guardedOutbound({ privateTargets: loopback, timeout: 50 });
  await assert.rejects(outbound.connect({ host: '127.0.0.1', port, tls: {} }), isUnreachable(/: it does not respond in time$/));
});

test('a lookup at a name server that never answers times out', async () => {
  await using outbound = guardedOutbound({ privateTargets: loopback, timeout: 50, resolve: () => new Promise(() => {}) });
  await assert.rejects(outbound.connect({ host: 'provider.example', port: 443 }), TargetUnreachable);
});

test('a certificate must match the host name and come from a trusted authority', async (t) => {
  if (!isInstalled('openssl')) return t.skip('openssl is not installed');
  const files = writeSelfSigned(await temporaryFolder(t), 'provider.example');
  const [cert, key] = [readFileSync(files.certificate, 'utf8'), readFileSync(files.key, 'utf8')];
  const port = await listen(t, createTlsServer({ key, cert }));
  await using outbound = guardedOutbound({ privateTargets: loopback, resolve: async () => ['127.0.0.1'] });
  const connect = (host: string, ca?: string) => outbound.connect({ host, port, tls: ca === undefined ? {} : { ca } });
  await assert.rejects(connect('provider.example'), isUnreachable(/: this machine does not trust its certificate$/));
  await assert.rejects(connect('other.example', cert), isUnreachable(/: its certificate is for another name$/));
  (await connect('provider.example', cert)).socket.destroy();
});

test('the error for a server that cannot be reached says why', async (t) => {
  const http = await listenHttp(t, (_request, response) => response.end());
  const smtp = await listen(
    t,
    createServer((socket) => socket.on('error', () => {}).end('220 mail.example ESMTP\r\n')),
  );
  const closed = createServer();
  const free = await listen(t, closed);
  closed.close();
  await once(closed, 'close');
  const resolve = async (host: string) => (host === 'absent.example' ? [] : ['127.0.0.1']);
  await using outbound = guardedOutbound({ privateTargets: loopback, resolve });
  const request = (url: string) => outbound.request(new URL(url));
  await assert.rejects(request('http://absent.example/'), isUnreachable(/^absent\.example cannot be reached: its name has no address$/));
  await assert.rejects(request(`http://a.example:${free}/`), isUnreachable(/: nothing accepts connections at this port$/));
  await assert.rejects(request(`http://a.example:${smtp}/`), isUnreachable(/: it does not speak HTTP at this port$/));
  await assert.rejects(request(`https://a.example:${http}/`), isUnreachable(/: it does not speak TLS at this port$/));
});

test('reading a response that is longer than the limit fails', async (t) => {
  const port = await listenHttp(t, (_request, response) => response.end('x'.repeat(100_000)));
  await using outbound = guardedOutbound({ privateTargets: loopback });
  const response = await outbound.request(new URL(`http://127.0.0.1:${port}/`));
  await assert.rejects(response.read(1000), ResponseTooLarge);
});

/** Starts a server that sends the beginning of a response, and then repeats `more` without end. Returns its port. */
const startEndlessServer = (t: TestContext, start: string, more: string) =>
  listen(
    t,
    createServer((socket) => {
      const send = () => {
        while (!socket.destroyed && socket.write(more));
      };
      socket.on('error', () => {}).on('drain', send);
      socket.once('data', () => {
        socket.write(start);
        send();
      });
    }),
  );

for (const [what, start, more] of [
  ['chunks with endless extensions', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;', 'e'.repeat(60_000)],
  ['endless early hints', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1000)],
] as const)
  test(`a request to a server that sends ${what} fails, and the error says that the response is too long`, {
    timeout: 10_000,
  }, async (t) => {
    const port = await startEndlessServer(t, start, more);
    await using outbound = guardedOutbound({ privateTargets: loopback, maxConnectionBytes: 1 << 20 });
    await assert.rejects(async () => (await outbound.request(new URL(`http://127.0.0.1:${port}/`))).read(1000), ResponseTooLarge);
  });

test('the pieces of a response do not keep the long chunk extensions before them in memory', async (t) => {
  const chunk = `100;${'e'.repeat(60_000)}\r\n${'x'.repeat(256)}\r\n`;
  const port = await listen(
    t,
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(200)}0\r\n\r\n`));
    }),
  );
  await using outbound = guardedOutbound({ privateTargets: loopback });
  const { body } = await outbound.request(new URL(`http://127.0.0.1:${port}/`));
  const pieces = await Array.fromAsync(body);
  const buffers = new Set(pieces.map(({ buffer }) => buffer));
  const memory = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
  assert.equal(Buffer.concat(pieces).length, 200 * 256);
  assert.ok(memory < 1 << 20, `${memory} bytes`);
});

test('only http and https URLs are requested', async () => {
  await using outbound = guardedOutbound({ privateTargets: loopback });
  for (const url of ['file:///etc/passwd', 'ftp://127.0.0.1/', 'data:,x'])
    await assert.rejects(outbound.request(new URL(url)), TargetRefused);
});

/** Adds turns to a list, from which `runAll` runs them. */
function turnList() {
  const turns: (() => void)[] = [];
  const tenants: (number | string)[] = [];
  const addTurn = (tid: number | string, work: () => void) => {
    tenants.push(tid);
    turns.push(work);
  };
  const runAll = () => {
    for (const run of turns.splice(0)) run();
  };
  return { addTurn, tenants, runAll, count: () => turns.length };
}

test('data that a server has sent is read in the turns of its network if no tenant is known', async (t) => {
  const port = await listenHttp(t, (request, response) => void request.pipe(response));
  const { addTurn, tenants, runAll } = turnList();
  const timer = setInterval(runAll, 1);
  atEnd(t, () => clearInterval(timer));
  await using outbound = guardedOutbound({ privateTargets: loopback, addTurn });
  await (await outbound.request(new URL(`http://127.0.0.1:${port}/`), { method: 'POST', body: 'text' })).read(1000);
  const { socket } = await outbound.connect({ host: '127.0.0.1', port });
  socket.end('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  for await (const _ of socket);
  assert.deepEqual([...new Set(tenants)], ['7f000001/32']);
});

test('data that the server of a tenant has sent is read only in the turns of the tenant', async (t) => {
  const port = await listenHttp(t, (request, response) => void request.pipe(response));
  const { addTurn, tenants, runAll, count } = turnList();
  await using outbound = guardedOutbound({ privateTargets: loopback, addTurn });
  let hasAnswered = false;
  const response = outbound.request(new URL(`http://127.0.0.1:${port}/`), { method: 'POST', body: 'text', tid: 7 }).then((answer) => {
    hasAnswered = true;
    return answer;
  });
  await until(async () => count() > 0);
  assert.equal(hasAnswered, false);
  const timer = setInterval(runAll, 1);
  const bytes = await (await response).read(100).finally(() => clearInterval(timer));
  assert.equal(Buffer.from(bytes).toString(), 'text');
  assert.ok(tenants.every((tid) => tid === 7));
});

test('a long request body and a long response body are transferred completely in turns', async (t) => {
  const port = await listenHttp(t, (request, response) => void request.pipe(response));
  await using outbound = guardedOutbound({ privateTargets: loopback, addTurn: (_, work) => void setImmediate(work) });
  const body = randomBytes(3 << 20);
  const response = await outbound.request(new URL(`http://127.0.0.1:${port}/`), { method: 'PUT', body, tid: 1 });
  assert.deepEqual(Buffer.from(await response.read(body.length)), body);
});

test('a request in turns fails if the server closes the connection before or within its response', async (t) => {
  const port = await listenHttp(t, ({ url }, response) => {
    if (url === '/before') return void response.destroy();
    response.writeHead(200, { 'content-length': 100 }).write('text', () => response.destroy());
  });
  await using outbound = guardedOutbound({ privateTargets: loopback, addTurn: (_, work) => void setImmediate(work) });
  const request = (path: string) => outbound.request(new URL(`http://127.0.0.1:${port}${path}`), { tid: 1 });
  await assert.rejects(request('/before'), isUnreachable(/: it closed the connection$/));
  await assert.rejects((await request('/within')).read(100));
});

test('the connections of a tenant are not used for another tenant', async (t) => {
  const tenantsByPort = new Map<number, Set<string>>();
  const port = await listenHttp(t, ({ socket, url = '' }, response) => {
    const tenants = tenantsByPort.get(socket.remotePort ?? 0) ?? new Set();
    tenantsByPort.set(socket.remotePort ?? 0, tenants.add(url));
    response.end('text');
  });
  await using outbound = guardedOutbound({ privateTargets: loopback, addTurn: (_, work) => void setImmediate(work) });
  for (let count = 0; count < 20; count += 1)
    for (const tid of [1, 2]) await (await outbound.request(new URL(`http://127.0.0.1:${port}/${tid}`), { tid })).read(100);
  assert.ok(tenantsByPort.size < 10);
  assert.ok([...tenantsByPort.values()].every(({ size }) => size === 1));
});

test('a server that supports only DHE is refused, because a large Diffie-Hellman group of its choice would block the thread', async (t) => {
  if (!isInstalled('openssl')) return t.skip('openssl is not installed');
  const { certificate, key } = writeSelfSigned(await temporaryFolder(t), 'localhost');
  const cert = readFileSync(certificate, 'utf8');
  const server = createTlsServer({
    key: readFileSync(key),
    cert,
    maxVersion: 'TLSv1.2',
    ciphers: 'DHE-RSA-AES128-GCM-SHA256',
    dhparam: 'auto',
  });
  const port = await listen(t, server);
  await using outbound = guardedOutbound({ privateTargets: loopback });
  await assert.rejects(
    outbound.connect({ host: '127.0.0.1', port, tls: { ca: cert } }),
    isUnreachable(/does not support TLS 1.2 or later with ECDHE$/),
  );
});

test('the connection to a server whose certificates are longer than 12 KiB is closed, because each certificate can be costly to check', async (t) => {
  // A TLS handshake record with a certificate message that announces 16 MiB.
  const record = Buffer.concat([Buffer.from([22, 3, 3, 0x40, 0, 11, 0xff, 0xff, 0xff]), Buffer.alloc(0x4000 - 4)]);
  const port = await listen(
    t,
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write(Buffer.concat([record, record, record])));
    }),
  );
  await using outbound = guardedOutbound({ privateTargets: loopback });
  await assert.rejects(
    outbound.connect({ host: '127.0.0.1', port, tls: {} }),
    isUnreachable(/sends more than 12 KiB, mostly certificates, before the connection is encrypted$/),
  );
});
