import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { boundConnections } from './crowded-connections.ts';

const most = 8;

async function crowdedServer(t: TestContext) {
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/held') held.push(response);
    else response.end('answered');
  });
  boundConnections(server, most);
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async (localAddress: string, text = ''): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    t.after(() => socket.destroy());
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return { open, held };
}

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

test('connections that one address only holds keep nobody else out', async (t) => {
  const { open } = await crowdedServer(t);
  for (let number = 0; number < most; number += 1) await open('127.0.0.1', 'GET / HTTP/1.1\r\nHo');
  for (let number = 0; number < 3; number += 1) {
    const other = await open('127.0.0.2', ask('/'));
    assert.match(String(await once(other, 'data')), /answered/);
  }
});

test('requests whose body does not come keep nobody else out', async (t) => {
  const { open } = await crowdedServer(t);
  for (let number = 0; number < most; number += 1)
    await open('127.0.0.1', 'POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{');
  for (let number = 0; number < 3; number += 1) {
    const other = await open('127.0.0.2', ask('/'));
    assert.match(String(await once(other, 'data')), /answered/);
  }
});

test('a connection with a request in progress is not closed for another one of its own network', async (t) => {
  const { open, held } = await crowdedServer(t);
  const busy = await Promise.all(Array.from({ length: most }, () => open('127.0.0.1', ask('/held'))));
  while (held.length < most) await new Promise(setImmediate);
  const further = await open('127.0.0.1', ask('/'));
  await once(further, 'close');
  for (const response of held) response.end('answered');
  for (const socket of busy) assert.match(String(await once(socket, 'data')), /answered/);
});
