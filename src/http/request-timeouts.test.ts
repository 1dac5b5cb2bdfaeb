import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { defaultTimeouts, keepOpenWhileProcessing } from './request-timeouts.ts';

test('the connection of an upload is not closed while its storage stores a part', async () => {
  const socket = new Socket();
  socket.setTimeout(defaultTimeouts.idle);
  async function* body() {
    for (let count = 0; count < 2; count += 1) {
      yield new Uint8Array(1);
      assert.equal(socket.timeout, defaultTimeouts.idle, 'the client must send the next bytes in time');
    }
  }
  for await (const _ of keepOpenWhileProcessing(body(), { socket }, defaultTimeouts)) assert.equal(socket.timeout, 0);
  assert.equal(socket.timeout, 0);
  socket.destroy();
});
