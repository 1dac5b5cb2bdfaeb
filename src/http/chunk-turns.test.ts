import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { nodeServer } from './node-server.ts';

const chunk = '1\r\nx\r\n';

async function dialServer(t: TestContext, handle: RequestListener) {
  const server = nodeServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const sockets = [0, 1].map(() => connect(port, '127.0.0.1').setEncoding('latin1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return sockets;
}

test('a body in chunks of one byte leaves the next turn to others', { timeout: 20_000 }, async (t) => {
  let chunks = 0;
  const [dripping, other] = await dialServer(t, (request, response) => {
    if (request.method === 'GET') return void response.end('x');
    request.on('data', ({ length }) => {
      chunks += length;
    });
  });
  dripping?.write('PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  dripping?.write(chunk.repeat(1_000_000));
  for (let request = 0; request < 3; request += 1) {
    other?.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    if (other) await once(other, 'data');
  }
  assert.ok(chunks < 60_000, `${chunks} chunks come first`);
});

test('a body in chunks of one byte comes to its end, also where it is read slowly', { timeout: 20_000 }, async (t) => {
  const [dripping] = await dialServer(t, async (request, response) => {
    let bytes = 0;
    for await (const piece of request) {
      bytes += piece.length;
      if (bytes % 10_000 === 0) await new Promise(setImmediate);
    }
    response.end(`${bytes} bytes`);
  });
  dripping?.write('PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  dripping?.write(`${chunk.repeat(60_000)}0\r\n\r\n`);
  const [answer] = dripping ? await once(dripping, 'data') : [''];
  assert.match(answer, /60000 bytes$/);
});

test('chunks of one byte take no more memory than their bytes while nobody reads them', { timeout: 20_000 }, async (t) => {
  const requests: IncomingMessage[] = [];
  const [dripping, other] = await dialServer(t, (request, response) => {
    if (request.method === 'GET') return void response.end('x');
    requests.push(request);
  });
  dripping?.write('PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  dripping?.write(chunk.repeat(200_000));
  other?.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  if (other) await once(other, 'data');
  const [request] = requests;
  let pieces = 0;
  for (let piece = request?.read(1); piece; piece = request?.read()) {
    pieces += 1;
    assert.ok(request?.readableLength !== undefined && request.readableLength < 1 << 17, 'the stream is full');
  }
  assert.ok(pieces < 100, `${pieces} pieces`);
});
