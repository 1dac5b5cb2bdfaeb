import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { CostlyNetworks } from './costly-networks.ts';
import { createNodeServer } from './node-server.ts';
import { ParseTurns } from './parse-turns.ts';

const chunk = '1\r\nx\r\n';

async function connectClients(t: TestContext, handle: RequestListener) {
  const server = createNodeServer(handle, new ParseTurns(() => performance.now())).listen(0, '127.0.0.1');
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

test('a body in chunks of one byte does not delay the requests of other clients', { timeout: 20_000 }, async (t) => {
  let chunks = 0;
  const [sender, other] = await connectClients(t, (request, response) => {
    if (request.method === 'GET') return void response.end('x');
    request.on('data', ({ length }) => {
      chunks += length;
    });
  });
  sender?.write('PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  sender?.write(chunk.repeat(1_000_000));
  for (let request = 0; request < 3; request += 1) {
    other?.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    if (other) await once(other, 'data');
  }
  assert.ok(chunks < 100_000, `${chunks} chunks come first`);
});

test('a body in chunks of one byte is received completely, even by a slow reader', { timeout: 20_000 }, async (t) => {
  const [sender] = await connectClients(t, async (request, response) => {
    let bytes = 0;
    for await (const piece of request) {
      bytes += piece.length;
      if (bytes % 10_000 === 0) await new Promise(setImmediate);
    }
    response.end(`${bytes} bytes`);
  });
  sender?.write('PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  sender?.write(`${chunk.repeat(60_000)}0\r\n\r\n`);
  const [answer] = sender ? await once(sender, 'data') : [''];
  assert.match(answer, /60000 bytes$/);
});

test('unread chunks of one byte are joined, and chunks that arrive one by one share memory', { timeout: 20_000 }, async (t) => {
  const requests: IncomingMessage[] = [];
  const [sender, other] = await connectClients(t, (request, response) => {
    if (request.method === 'GET') return void response.end('x');
    requests.push(request);
  });
  const getAnswer = async () => {
    other?.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    if (other) await once(other, 'data');
  };
  sender?.write('PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  sender?.write(chunk.repeat(5000));
  await getAnswer();
  const pieces: Buffer[] = [];
  requests[0]?.on('data', (piece) => pieces.push(piece));
  await getAnswer();
  assert.equal(Buffer.concat(pieces).length, 5000);
  assert.ok(pieces.length < 100, `${pieces.length} pieces`);
  const before = pieces.length;
  for (let number = 0; number < 200; number += 1) {
    const dataEvent = requests[0] && once(requests[0], 'data');
    sender?.write(chunk);
    await dataEvent;
  }
  const single = pieces.slice(before);
  assert.equal(Buffer.concat(single).length, 200);
  const memory = new Set(single.map(({ buffer }) => buffer)); // Node.js allocates small buffers as slices of larger ones
  assert.ok(memory.size < 20, `${memory.size} pieces of memory for 200 bytes`);
});

/**
 * Starts a server that does not limit the requests of a connection. Ten connections of one network send a thousand requests each,
 * then another network sends one.
 * @param watch decides which connections are parsed in turns
 * @param work called for every request
 */
async function flood(t: TestContext, watch: (server: Server) => void, work = () => {}) {
  let parsedCount = 0;
  const positionOfOther = Promise.withResolvers<number>();
  const server = createServer((request, response) => {
    work();
    parsedCount += 1;
    if (request.url === '/other') positionOfOther.resolve(parsedCount);
    response.end();
  });
  watch(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const open = async (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    return socket.on('error', () => {});
  };
  const other = await open('127.0.1.2');
  const flooding = await Promise.all(Array.from({ length: 10 }, () => open('127.0.0.1')));
  for (const socket of flooding) socket.write('GET /many HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000));
  while (parsedCount === 0) await new Promise(setImmediate);
  other.write('GET /other HTTP/1.1\r\nHost: x\r\n\r\n');
  /** Returns the number of iterations of the event loop until all requests are parsed. */
  async function countTurns(): Promise<number> {
    let count = 0;
    for (; parsedCount < 10_001; count += 1) await new Promise(setImmediate);
    return count;
  }
  return { flooding, position: await positionOfOther.promise, countTurns };
}

/** Calls `flood` with turns for all connections. */
async function floodInTurns(t: TestContext, maxWaiting?: number) {
  let time = 0;
  const turns = new ParseTurns(() => time, maxWaiting);
  const watch = (server: Server) => server.on('connection', (socket) => turns.add(socket));
  return flood(t, watch, () => {
    time += 1;
  });
}

test('thousands of requests sent at once are parsed in turns with the requests of another network', { timeout: 20_000 }, async (t) => {
  const { position } = await floodInTurns(t);
  assert.ok(position < 1000, `parsed as number ${position}`);
});

test('after many simultaneous requests on one connection, all connections of its network take turns', { timeout: 20_000 }, async (t) => {
  let time = 0;
  const turns = new ParseTurns(() => time);
  const networks = new CostlyNetworks(() => 0, turns);
  const watch = (server: Server) => {
    server.on('connection', (socket) => networks.add(socket));
    server.prependListener('request', (request) => networks.noteRequest(request));
  };
  const { countTurns } = await flood(t, watch, () => {
    time += 1;
  });
  assert.ok((await countTurns()) > 100);
});

test('if too many bytes wait to be parsed, the network that has sent the most loses a connection', { timeout: 20_000 }, async (t) => {
  const { flooding, position } = await floodInTurns(t, 100_000);
  assert.ok(position < 1000, 'the other network is answered');
  await Promise.any(flooding.map((socket) => once(socket, 'close')));
});

test('a client that reads no response while it sends its requests gets all responses later', { timeout: 20_000 }, async (t) => {
  const [slow] = await connectClients(t, (request, response) => {
    request.resume();
    response.end('r'.repeat(1 << 22));
  });
  if (!slow) return;
  slow.pause();
  const body = 'b'.repeat(1 << 20);
  slow.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  for (let request = 0; request < 5; request += 1) slow.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'h'.repeat(5000)}\r\n\r\n`);
  let received = 0;
  slow.on('data', ({ length }: string) => {
    received += length;
  });
  slow.resume();
  while (received < 6 << 22) await once(slow, 'data');
});

test('a body that nobody reads is not parsed further, although the connection takes turns with others', { timeout: 20_000 }, async (t) => {
  let time = 0;
  const turns = new ParseTurns(() => {
    time += 10; // ms, so that every read waits for a turn
    return time;
  });
  const requests: IncomingMessage[] = [];
  const server = createServer((request) => {
    turns.startRequest(request, () => requests.push(request));
  });
  server.on('connection', (socket) => turns.add(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const length = 8 << 20;
  const sockets = Array.from({ length: 3 }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) socket.write(`PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${'b'.repeat(length)}`);
  while (requests.length < 3 || sockets.some(({ bytesWritten }) => bytesWritten === 0)) await new Promise(setImmediate);
  for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate);
  for (const { readableLength } of requests) assert.ok(readableLength < 1 << 18, `${readableLength} bytes are held`);
  for (const request of requests) {
    let received = 0;
    for await (const piece of request) received += piece.length;
    assert.equal(received, length);
  }
});
