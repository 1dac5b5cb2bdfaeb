import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { joinAndYield } from '../../src/http/visitor/join-and-yield.ts';

/** Yields pieces that all reuse the same memory. */
async function* reusedPieces(sizes: readonly number[]): AsyncGenerator<Buffer> {
  const memory = Buffer.alloc(40_000);
  for (const [index, size] of sizes.entries()) yield memory.subarray(0, size).fill(index);
}

async function bytesOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const piece of pieces) copies.push(Buffer.from(piece));
  return Buffer.concat(copies);
}

test('joined pieces contain the same bytes at any piece size', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(fc.nat(300), fc.nat(40_000)), { maxLength: 60 }), async (sizes) => {
      assert.ok((await bytesOf(joinAndYield(reusedPieces(sizes)))).equals(await bytesOf(reusedPieces(sizes))));
    }),
  ));

test('joining thousands of small pieces does not block the event loop', async () => {
  let turns = 0;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await bytesOf(joinAndYield(reusedPieces(Array.from({ length: 10_000 }, () => 100))));
  clearImmediate(next);
  assert.ok(turns > 30, `${turns} turns`);
});
