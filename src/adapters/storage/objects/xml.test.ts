import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { readElements } from './xml.ts';

const monotonic = () => 0;
const limits = { bytes: 1 << 30, elements: 30_000_000 };
const multistatus = { root: 'multistatus', name: 'response' };

async function* documentOf(pieces: Iterable<string>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('<multistatus>');
  for (const piece of pieces) yield Buffer.from(piece);
  yield Buffer.from('</multistatus>');
}

/** Returns how many bytes of memory the process uses after a garbage collection. */
function usedMemory(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

test('a list of hundreds of thousands of elements that are not wanted takes little memory, and the wanted ones are found', async () => {
  let growth = 0;
  const before = usedMemory();
  function* pieces() {
    yield '<response><href>first</href></response>';
    for (let count = 0; count < 300; count += 1) yield '<x/>'.repeat(1000);
    growth = usedMemory() - before;
    yield '<response><href>last</href></response>';
  }
  const texts = (await Array.fromAsync(readElements(documentOf(pieces()), monotonic, multistatus, limits))).map(
    ({ children }) => children[0]?.text,
  );
  assert.deepEqual(texts, ['first', 'last']);
  assert.ok(growth < 10_000_000, `${growth} bytes`);
});

for (const [what, content] of Object.entries({ elements: '<x/>'.repeat(2000), text: `<x>${'a'.repeat(8000)}</x>`.repeat(20) }))
  test(`an element of a list is refused if its content exceeds the limit of ${what}`, async () => {
    const elements = readElements(documentOf([`<response>${content}`]), monotonic, multistatus, limits);
    await assert.rejects(Array.fromAsync(elements), (cause) => cause instanceof StorageUnavailable && /too much/.test(cause.message));
  });
