import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { TurnSocket } from './turn-socket.ts';

test('a server that does not read what it is sent cannot send more until it has read', async (t) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [accepted]: Socket[] = await once(server, 'connection');
  assert.ok(accepted);
  t.after(() => accepted.destroy());
  accepted.pause();
  const turns: (() => void)[] = [];
  let addedTurns = Promise.withResolvers<void>();
  const client = new TurnSocket(socket, (work) => {
    turns.push(work);
    addedTurns.resolve();
  });
  t.after(() => client.destroy());
  let received = 0;
  client.on('data', (bytes: Buffer) => {
    received += bytes.length;
  });
  while (client.writableLength <= 32 << 20) client.write(Buffer.alloc(1 << 20));
  accepted.write('hello');
  await addedTurns.promise;
  turns.shift()?.();
  assert.equal(received, 0);
  addedTurns = Promise.withResolvers<void>();
  accepted.resume();
  await addedTurns.promise;
  turns.shift()?.();
  assert.equal(received, 5);
});
