import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slicesOf } from './slices-of.ts';

const bodyOf = (pieces: readonly string[]) => ({
  length: pieces.join('').length,
  pieces: (async function* () {
    for (const piece of pieces) yield Buffer.from(piece);
  })(),
});

test('a body that exceeds the limit of one request is split into slices, and no byte is lost', async () => {
  for (const pieces of [['abcdefghij'], ['abc', 'defg', 'hij'], ['a', 'bcdefghij'], ['abcde', 'fghij']])
    for (const maxLength of [1, 3, 5, 9]) {
      const slices: string[] = [];
      for (const { length, pieces: inner } of slicesOf(bodyOf(pieces), maxLength)) {
        const slice = Buffer.concat(await Array.fromAsync(inner)).toString();
        assert.equal(slice.length, length);
        slices.push(slice);
      }
      assert.equal(slices.join(''), 'abcdefghij');
      assert.ok(slices.slice(0, -1).every(({ length }) => length === maxLength));
    }
  const short = bodyOf(['abc']);
  assert.deepEqual([...slicesOf(short, 3)], [short]);
  assert.deepEqual([...slicesOf(bodyOf([]), 3)], []);
});
