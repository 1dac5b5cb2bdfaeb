import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { TurnSocket } from './turn-socket.ts';

test('data from a server is not passed on while too much data waits to be sent to the server', async (t) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [serverSocket]: Socket[] = await once(server, 'connection');
  assert.ok(serverSocket);
  t.after(() => serverSocket.destroy());
  serverSocket.pause();
  const turns: (() => void)[] = [];
  let addedTurns = Promise.withResolvers<void>();
  const client = new TurnSocket(socket, (work) => {
    turns.push(work);
    addedTurns.resolve();
  });
  t.after(() => client.destroy());
  let receivedBytes = 0;
  client.on('data', (bytes: Buffer) => {
    receivedBytes += bytes.length;
  });
  while (client.writableLength <= 32 << 20) client.write(Buffer.alloc(1 << 20));
  serverSocket.write('hello');
  await addedTurns.promise;
  turns.shift()?.();
  assert.equal(receivedBytes, 0);
  addedTurns = Promise.withResolvers<void>();
  serverSocket.resume();
  await addedTurns.promise;
  turns.shift()?.();
  assert.equal(receivedBytes, 5);
});
