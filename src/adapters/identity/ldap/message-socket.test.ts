import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { test } from 'node:test';
import { TenantTurns } from '#adapters/os/tenant-turns.ts';
import { DirectoryUnavailable } from '#ports/directory.ts';
import { MessageSocket } from './message-socket.ts';

/** Returns the tag and the length of an element. */
function headerOf(tag: number, size: number): Buffer {
  const header = Buffer.from([tag, 0x84, 0, 0, 0, 0]);
  header.writeUInt32BE(size, 2);
  return header;
}

/** Returns a message with one text. @param size of the text, in bytes */
function messageOf(size: number, fill = 0): Buffer {
  const text = Buffer.concat([headerOf(0x04, size), Buffer.alloc(size, fill)]);
  return Buffer.concat([headerOf(0x30, text.length), text]);
}

/** Connects a socket to a directory. @returns both ends, the messages that arrive, and the first error of the socket */
function connectSocket() {
  const [near, directory] = duplexPair();
  const socket = new MessageSocket(near, new TenantTurns(() => performance.now()), 1);
  const messages: Buffer[] = [];
  socket.on('data', (message: Buffer) => messages.push(message));
  const firstError = once(socket, 'error').then(([cause]) => cause as Error);
  return { directory, socket, messages, firstError };
}

test('messages of a directory arrive one by one, however they are divided', async () => {
  const sentMessages = [messageOf(3, 1), messageOf(300, 2), messageOf(0), Buffer.from([0x30, 0x02, 0x04, 0x00]), messageOf(70_000, 3)];
  const bytes = Buffer.concat(sentMessages);
  for (const size of [70, 1000, bytes.length]) {
    const { directory, socket, messages } = connectSocket();
    for (let at = 0; at < bytes.length; at += size) directory.write(bytes.subarray(at, at + size));
    directory.end();
    await once(socket, 'end');
    assert.deepEqual(messages, sentMessages, `${size} bytes at a time`);
  }
});

test('a thousand messages in one piece arrive one by one', async () => {
  const { directory, socket, messages } = connectSocket();
  let depth = 0;
  socket.on('data', () => {
    depth += 1;
    assert.equal(depth, 1);
    depth -= 1;
  });
  directory.end(Buffer.concat(Array.from({ length: 1000 }, (_, index) => messageOf(1, index % 200))));
  await once(socket, 'end');
  assert.equal(messages.length, 1000);
});

const floods: Readonly<Record<string, (directory: Duplex) => void>> = {
  'announces a message of 250 MB': (directory) => directory.write(headerOf(0x30, 250_000_000)),
  'sends a message byte by byte': (directory) => {
    for (const byte of messageOf(100_000)) directory.write(Buffer.from([byte]));
  },
  'sends messages without end': (directory) => directory.write(Buffer.concat(Array.from({ length: 20_000 }, () => messageOf(1)))),
  'sends a message of many elements': (directory) =>
    directory.write(Buffer.concat([headerOf(0x30, 30_000), Buffer.from('0400'.repeat(15_000), 'hex')])),
  'sends more than two megabytes': (directory) => {
    for (let count = 0; count < 12; count += 1) directory.write(messageOf(200_000));
  },
  'sends many elements in several messages': (directory) => {
    const message = Buffer.concat([headerOf(0x30, 7000), Buffer.from('0400'.repeat(3500), 'hex')]);
    for (let count = 0; count < 6; count += 1) directory.write(message);
  },
  'sends a malformed length': (directory) => directory.write(Buffer.from([0x30, 0x80, 0, 0])),
};
for (const [what, flood] of Object.entries(floods))
  test(`the connection to a directory that ${what} is closed`, async () => {
    const { directory, socket, firstError } = connectSocket();
    flood(directory);
    assert.ok((await firstError) instanceof DirectoryUnavailable);
    assert.equal(socket.destroyed, true);
  });

test('bytes that are written to the socket reach the directory, and the socket reports the end of the connection', async () => {
  const { directory, socket } = connectSocket();
  socket.write('a request');
  const [request] = await once(directory, 'data');
  assert.equal(String(request), 'a request');
  directory.end();
  await once(socket, 'end');
});
