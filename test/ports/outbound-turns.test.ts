import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import { TargetUnreachable } from '#ports/outbound.ts';
import { atEnd } from '../parts/at-end.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { writeSelfSigned } from '../parts/self-signed.ts';
import { temporaryFolder } from '../start.ts';

const needsOpenssl = isInstalled('openssl') ? {} : { skip: 'openssl is not installed' };
const host = 'storage.example';

/** Creates a certificate that this process trusts. */
async function createTrustedCertificate(t: TestContext) {
  const files = writeSelfSigned(await temporaryFolder(t), host);
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, readFileSync(files.certificate, 'utf8')]);
  atEnd(t, () => setDefaultCACertificates(before));
  return files;
}

const outboundTo = (addTurn: (tid: number | string, work: () => void) => void, timeout = 10_000) =>
  guardedOutbound({ privateTargets: packRangeText('127.0.0.1'), resolve: async () => ['127.0.0.1'], addTurn, timeout });

/** Starts an HTTPS server that responds with the body. @returns its URL, and a function that returns how many connections it had */
async function startServer(t: TestContext, body: Buffer) {
  const files = await createTrustedCertificate(t);
  let connections = 0;
  const server = createServer({ key: readFileSync(files.key), cert: readFileSync(files.certificate) }, (_request, response) =>
    response.end(body),
  );
  server.on('secureConnection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: new URL(`https://${host}:${port}/`), connections: () => connections };
}

test(
  'everything that an HTTPS server of a tenant sends, including its handshake, is read in turns of the tenant',
  needsOpenssl,
  async (t) => {
    const body = Buffer.from(Array.from({ length: 3 << 20 }, (_, index) => index % 251));
    const { url, connections } = await startServer(t, body);
    const tids = new Set<number | string>();
    await using outbound = outboundTo((tid, work) => {
      tids.add(tid);
      setImmediate(work);
    });
    for (let request = 0; request < 3; request += 1) {
      const response = await outbound.request(url, { tid: 7 });
      assert.ok(body.equals(await response.read(2 * body.length)));
    }
    assert.deepEqual([...tids], [7]);
    assert.ok(connections() < 3, 'connections are reused');
  },
);

test('a tenant without turns completes no handshake with its HTTPS server', needsOpenssl, async (t) => {
  const { url } = await startServer(t, Buffer.from('text'));
  await using outbound = outboundTo(() => {}, 300);
  await assert.rejects(outbound.request(url, { tid: 7 }), TargetUnreachable);
});

test('a server cannot renegotiate TLS', needsOpenssl, async (t) => {
  const files = await createTrustedCertificate(t);
  const options = { key: readFileSync(files.key), cert: readFileSync(files.certificate), maxVersion: 'TLSv1.2' } as const;
  const { promise: renegotiated, resolve } = Promise.withResolvers<boolean>();
  const server = createServer(options, ({ socket }, response) => {
    if (!(socket instanceof TLSSocket)) return;
    socket.on('close', () => resolve(false));
    socket.renegotiate({ rejectUnauthorized: false }, (error) => {
      resolve(error === null);
      response.end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  await using outbound = outboundTo((_tid, work) => void setImmediate(work));
  const { port } = server.address() as AddressInfo;
  await outbound.request(new URL(`https://${host}:${port}/`), { tid: 1 }).catch(() => {});
  assert.equal(await renegotiated, false);
});

/** Python code of a server that sends a thousand session tickets, which a Node.js server cannot do. */
const ticketServer = `
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
context.num_tickets = 1000
listening = socket.socket()
listening.bind(('127.0.0.1', 0))
listening.listen()
print(listening.getsockname()[1], flush=True)
while True:
    connection, _ = listening.accept()
    try:
        connection = context.wrap_socket(connection, server_side=True)
        connection.recv(1000)
        connection.sendall(b'HTTP/1.1 200 OK\\r\\ncontent-length: 4\\r\\n\\r\\ntext')
    except OSError:
        pass
`;
const needsPython = isInstalled('python3') ? needsOpenssl : { skip: 'python3 is not installed' };

test('the connection to a server that sends a thousand session tickets is closed', needsPython, async (t) => {
  const { certificate, key } = await createTrustedCertificate(t);
  const server = spawn('python3', ['-c', ticketServer, certificate, key], { stdio: ['ignore', 'pipe', 'ignore'] });
  atEnd(t, () => void server.kill('SIGKILL'));
  const [port] = await once(server.stdout, 'data');
  await using outbound = outboundTo((_, work) => setImmediate(work));
  const request = outbound.request(new URL(`https://${host}:${String(port).trim()}/`), { tid: 7 });
  await assert.rejects(
    request.then((response) => response.read(100)),
    TargetUnreachable,
  );
});
