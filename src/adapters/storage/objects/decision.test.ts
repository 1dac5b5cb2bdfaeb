import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { StorageBusy, StorageUnavailable } from '#ports/storage-errors.ts';
import { decisionBody, readDecision } from './decision.ts';

const monotonic = () => 0;
/** Returns a reservation of a budget that is large enough. */
const memory = () => storageMemory().of(1).begin();

test('the decision of a change of many objects is written and read in small pieces', async () => {
  const versions = new Map(Array.from({ length: 3001 }, (_, index) => [`folder/"ä\n${index}`, `"etag-${index}"`]));
  const { length, pieces } = await decisionBody(versions);
  const pieceList = await Array.fromAsync(pieces);
  assert.equal(Buffer.concat(pieceList).length, length);
  assert.ok(pieceList.length > 6);
  assert.deepEqual(await readDecision((await decisionBody(versions)).pieces, 3001, monotonic, memory()), versions);
  const [first = new Uint8Array()] = pieceList;
  const halves = Readable.from([first.subarray(0, 1001), first.subarray(1001)]);
  assert.equal((await readDecision(halves, 3001, monotonic, memory())).size, 500);
});

for (const [what, text] of Object.entries({
  'was cut off': '["key","etag"]\n["key',
  'is no JSON': 'key etag\n',
  'has no pairs of texts': '[1,2]\n',
  'has more lines than a change may have objects': '["key","etag"]\n'.repeat(11),
  'has a line that never ends': `["${'k'.repeat(10_000)}`,
}))
  test(`a decision that ${what} is refused`, async () => {
    await assert.rejects(readDecision(Readable.from([Buffer.from(text)]), 10, monotonic, memory()), StorageUnavailable);
  });

test('a decision that needs more memory than is left for the tenant is refused for now, before all of it is read', async () => {
  const budget = storageMemory(1 << 20);
  let lines = 0;
  async function* longDecision() {
    for (; lines < 100_000; lines += 1) yield Buffer.from(`["${lines}${'k'.repeat(8000)}","etag"]\n`);
  }
  await assert.rejects(readDecision(longDecision(), 100_000, monotonic, budget.of(1).begin()), StorageBusy);
  assert.ok(lines < 1000, `${lines} lines were read`);
});
