import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { readInTurns } from './connection-turns.ts';

/** Connects a client from each address, and sends a request from each. @returns the server's sockets, in the order of the addresses */
async function connectAll(t: TestContext, addresses: readonly string[]): Promise<Socket[]> {
  const listener = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const bound = listener.address();
  const port = typeof bound === 'object' && bound ? bound.port : 0;
  t.after(() => listener.close());
  const accepted: Socket[] = [];
  for (const localAddress of addresses) {
    const client = connect({ host: '127.0.0.1', port, localAddress });
    const [[socket]] = await Promise.all([once(listener, 'connection'), once(client, 'connect')]);
    client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    client.resume();
    accepted.push(socket);
  }
  return accepted;
}

test('a new connection does not wait for hundreds that another network has opened before', async (t) => {
  const sockets = await connectAll(t, [...Array.from({ length: 200 }, () => '127.0.0.1'), '127.0.1.1']);
  let time = 0;
  const order: string[] = [];
  const server = createHttpServer((request, response) => {
    time += 5; // ms of work
    order.push(request.socket.remoteAddress ?? '');
    response.end();
  });
  readInTurns(server, () => time);
  for (const socket of sockets) server.emit('connection', socket.resume());
  await Promise.all(sockets.map((socket) => once(socket, 'close')));
  assert.equal(order.length, 201);
  const position = order.indexOf('127.0.1.1');
  assert.ok(position < 100, `${position} requests of the other network were handled before`);
});
