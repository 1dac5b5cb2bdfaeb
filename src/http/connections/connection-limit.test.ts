import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createGate, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { limitConnections } from './connection-limit.ts';

const maxConnections = 8;

async function startServer(t: TestContext) {
  const openResponses: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.headers['content-type'] = 'application/octet-stream'; // as the routes of uploads do
    if (request.url === '/held') openResponses.push(response);
    else response.end('answered');
  });
  limitConnections(server, maxConnections);
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async (localAddress: string, text = '', to = port): Promise<Socket> => {
    const socket = connect({ port: to, host: '127.0.0.1', localAddress });
    t.after(() => socket.destroy());
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return { server, open, openResponses };
}

const requestText = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

test('idle connections from one address do not block other clients', async (t) => {
  const { open } = await startServer(t);
  for (let number = 0; number < maxConnections; number += 1) await open('127.0.0.1', 'GET / HTTP/1.1\r\nHo');
  for (let number = 0; number < 3; number += 1) {
    const other = await open('127.0.0.2', requestText('/'));
    assert.match(String(await once(other, 'data')), /answered/);
  }
});

test('requests whose body does not arrive do not block other clients', async (t) => {
  const { open } = await startServer(t);
  for (let number = 0; number < maxConnections; number += 1)
    await open('127.0.0.1', 'POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{');
  for (let number = 0; number < 3; number += 1) {
    const other = await open('127.0.0.2', requestText('/'));
    assert.match(String(await once(other, 'data')), /answered/);
  }
});

test('while one client opens connections faster than they are closed, other clients are answered', async (t) => {
  const { server, open } = await startServer(t);
  const arrivedSockets: Socket[] = [];
  const gate = createGate((socket) => arrivedSockets.push(socket)).listen(0);
  t.after(() => gate.close());
  await once(gate, 'listening');
  const { port } = gate.address() as AddressInfo;
  for (let number = 0; number < 100; number += 1)
    await open('127.0.0.1', 'POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n', port);
  const other = await open('127.0.0.2', requestText('/'), port);
  while (arrivedSockets.length < 101) await once(gate, 'connection');
  for (const socket of arrivedSockets) server.emit('connection', socket); // in one iteration of the event loop
  assert.match(String(await once(other, 'data')), /answered/);
});

test('a connection with a request in progress is not closed to admit a new one from the same site', async (t) => {
  const { open, openResponses } = await startServer(t);
  const busy = await Promise.all(Array.from({ length: maxConnections }, () => open('127.0.0.1', requestText('/held'))));
  while (openResponses.length < maxConnections) await new Promise(setImmediate);
  const newcomer = await open('127.0.0.1', requestText('/'));
  await once(newcomer, 'close');
  for (const response of openResponses) response.end('answered');
  for (const socket of busy) assert.match(String(await once(socket, 'data')), /answered/);
});

for (const method of ['PUT', 'PATCH', 'POST'])
  test(`a connection on which a client sends a file or a part of it by ${method} is closed after its other connections`, async (t) => {
    const { open, openResponses } = await startServer(t);
    const partHeader = method === 'PUT' ? '' : 'Content-Type: application/offset+octet-stream\r\n';
    const upload = await open('127.0.0.1', `${method} /held HTTP/1.1\r\nHost: a\r\n${partHeader}Content-Length: 100\r\n\r\n{`);
    for (let number = 1; number < maxConnections; number += 1)
      await open('127.0.0.1', 'POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{');
    while (openResponses.length < maxConnections) await new Promise(setImmediate);
    const other = await open('127.0.0.2', requestText('/'));
    assert.match(String(await once(other, 'data')), /answered/);
    openResponses[0]?.end('received');
    assert.match(String(await once(upload, 'data')), /received/);
  });
