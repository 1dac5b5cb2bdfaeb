import assert from 'node:assert/strict';
import { test } from 'node:test';
import { haveSameBeginning } from './same-beginning.ts';

/** Returns a file that yields a text in pieces of this size, with an empty piece after each. Counts the bytes that are read. */
function textFile(text: string, pieceSize: number) {
  const file = { readBytes: 0, isClosed: false };
  async function* pieces() {
    try {
      for (let start = 0; start < text.length; start += pieceSize) {
        file.readBytes += Math.min(pieceSize, text.length - start);
        yield Buffer.from(text.slice(start, start + pieceSize));
        yield new Uint8Array();
      }
    } finally {
      file.isClosed = true;
    }
  }
  return Object.assign(file, { pieces: pieces() });
}

test('two files have the same beginning if both have enough bytes and these are equal, in whatever pieces they arrive', async () => {
  const beginning = 'abcdefghij'.repeat(10);
  for (const [one, other, size, isSame] of [
    [beginning, `${beginning}more`, 100, true],
    [beginning, beginning, 100, true],
    [`${beginning}x`, `${beginning}y`, 100, true],
    [beginning.replace(/j$/, 'x'), beginning, 100, false],
    [beginning.slice(1), beginning.slice(1), 100, false],
    ['', beginning, 100, false],
    ['', '', 0, true],
  ] as const)
    for (const pieceSizes of [
      [1, 7],
      [64, 3],
      [1000, 1000],
    ] as const)
      assert.equal(await haveSameBeginning(textFile(one, pieceSizes[0]).pieces, textFile(other, pieceSizes[1]).pieces, size), isSame);
});

test('two files that differ at once are not read further, and are closed', async () => {
  const files = [textFile('a'.repeat(1000), 10), textFile('b'.repeat(1000), 10)] as const;
  assert.equal(await haveSameBeginning(files[0].pieces, files[1].pieces, 1000), false);
  assert.deepEqual(
    files.map(({ readBytes, isClosed }) => ({ readBytes, isClosed })),
    files.map(() => ({ readBytes: 10, isClosed: true })),
  );
});
