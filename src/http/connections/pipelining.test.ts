import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { handleInSequence } from './pipelining.ts';

const waitingRequests = 15; // of one connection
const longHeader = 'a'.repeat(14_000);

/**
 * Starts a server that never responds to the first request of a connection.
 * @returns a function that opens a connection with waiting requests
 */
async function startServer(t: TestContext) {
  const server = createServer(handleInSequence(() => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return async (localAddress: string): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => {}).resume();
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    for (let count = 0; count < waitingRequests; count += 1) socket.write(`GET / HTTP/1.1\r\nHost: a\r\nX: ${longHeader}\r\n\r\n`);
    return socket;
  };
}

test('a wide network can have 32 MiB of waiting requests; a connection that exceeds this is closed', async (t) => {
  const open = await startServer(t);
  let isFull = false;
  const sockets: Socket[] = [];
  while (!isFull) {
    const socket = await open('127.0.0.1');
    sockets.push(socket);
    socket.once('close', () => {
      isFull = true;
    });
    await new Promise(setImmediate);
  }
  const bytes = sockets.length * waitingRequests * (longHeader.length + 4096);
  assert.ok(bytes > 24 << 20 && bytes < 64 << 20, `${sockets.length} connections`);
});

test('a connection with more than fifteen waiting requests is closed', async (t) => {
  const open = await startServer(t);
  const socket = await open('127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'close');
});
