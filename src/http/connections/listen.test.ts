import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import Fastify from 'fastify';
import { listen } from './listen.ts';

const nextTurn = () => new Promise(setImmediate);
const host = '127.0.0.1';

async function startServer(t: TestContext) {
  const app = Fastify();
  app.get('/', async () => 'answered');
  await listen(app, { host, port: 0 });
  t.after(() => app.close());
  return { app, port: (app.server.address() as AddressInfo).port };
}

/** Opens connections in a thread. When all are established, it increments a number in shared memory. */
const connectScript = `
const { workerData: { port, count, done } } = require('node:worker_threads');
let connected = 0;
for (let number = 0; number < count; number += 1)
  require('node:net').connect({ host: '${host}', port }).on('connect', () => {
    connected += 1;
    if (connected < count) return;
    Atomics.add(new Int32Array(done), 0, 1);
    Atomics.notify(new Int32Array(done), 0);
  });`;

const onLinux = { skip: process.platform === 'linux' ? false : 'needs Linux' };

test('of hundreds of new connections, several are accepted in each iteration of the event loop', onLinux, async (t) => {
  const { app, port } = await startServer(t);
  const count = 400;
  let acceptedCount = 0;
  app.server.on('connection', () => {
    acceptedCount += 1;
  });
  const done = new SharedArrayBuffer(4);
  const worker = new Worker(connectScript, { eval: true, workerData: { port, count, done } });
  t.after(() => worker.terminate());
  await once(worker, 'online');
  Atomics.wait(new Int32Array(done), 0, 0); // this thread accepts nothing meanwhile
  let turns = 0;
  for (; acceptedCount < count; turns += 1) await nextTurn();
  assert.ok(turns < count / 4, `${turns} turns`);
});

test('listen fails for a port on which another server listens', async (t) => {
  const { port } = await startServer(t);
  const second = Fastify();
  t.after(() => second.close());
  await assert.rejects(listen(second, { host, port }), { code: 'EADDRINUSE' });
});

test('before a server closes, it answers the requests in progress on all of its connections', async (t) => {
  const { app, port } = await startServer(t);
  const openResponses: ServerResponse[] = [];
  app.server.removeAllListeners('request').on('request', (_request, response) => openResponses.push(response));
  const sockets = Array.from({ length: 100 }, () => connect({ host, port }));
  const answers = Promise.all(sockets.map((socket) => once(socket, 'data')));
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  while (openResponses.length < sockets.length) await nextTurn();
  let isClosed = false;
  const closing = app.close().then(() => {
    isClosed = true;
  });
  while (openResponses.length > 0) {
    await nextTurn();
    assert.equal(isClosed, false);
    openResponses.pop()?.end('answered');
  }
  for (const answer of await answers) assert.match(String(answer), /answered/);
  await closing;
});
