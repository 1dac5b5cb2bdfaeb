import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { enforceMinRate } from './enforce-min-rate.ts';

/** Reads pieces. The sender and the reader take the given ms for each piece. @returns the number of bytes */
async function read(pieces: readonly number[], { sender = 0, reader = 0 }): Promise<number> {
  let now = 0;
  async function* body() {
    for (const length of pieces) {
      now += sender;
      yield new Uint8Array(length);
    }
  }
  let bytes = 0;
  for await (const piece of enforceMinRate(body(), () => now)) {
    bytes += piece.length;
    now += reader;
  }
  return bytes;
}

test('a download may take hours if the visitor is slow and the storage service is not', async () => {
  assert.equal(await read([100_000, 100_000, 100_000], { sender: 10, reader: 10_000_000 }), 300_000);
});

test('a service that sends a few bytes in half a minute cannot keep a download open for long', async () => {
  await assert.rejects(read([1, 1, 1, 1], { sender: 29_000 }), StorageUnavailable);
});

test('a service that sends a file byte by byte cannot keep the processor busy', async () => {
  await assert.rejects(read(Array<number>(1000).fill(1), {}), StorageUnavailable);
});
