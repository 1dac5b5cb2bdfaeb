import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pieceCollector } from './piece-collector.ts';

test('a file that arrives byte by byte is collected in few pieces', () => {
  const collector = pieceCollector();
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
  for (const byte of bytes) collector.add(Uint8Array.of(byte));
  assert.equal(collector.size(), bytes.length);
  const pieces = collector.take();
  assert.ok(pieces.length < 5, `${pieces.length} pieces`);
  assert.ok(Buffer.concat(pieces).equals(bytes));
});

test('pieces of any size are returned once and in order, and later pieces do not change them', () => {
  const collector = pieceCollector();
  const sizes = [1, 20_000, 3, 16_383, 16_384, 70_000, 5, 0, 16_000, 16_000, 16_000, 16_000, 16_000, 2];
  const sent = sizes.map((size, index) => Buffer.alloc(size, index + 1));
  const received = sent.flatMap((piece, index) => {
    collector.add(piece);
    return index % 4 === 3 ? collector.take() : [];
  });
  assert.ok(Buffer.concat([...received, ...collector.take()]).equals(Buffer.concat(sent)));
  assert.deepEqual([collector.take(), collector.size()], [[], 0]);
});
