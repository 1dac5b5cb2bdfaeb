import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TextIndex } from '#adapters/store/sqlite/search/text-index.ts';

const word = fc.constantFrom('a', 'ab', 'ба', '契', 'é', '😀', 'aa', 'b\u001fa');
const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(''));
const id = fc.integer({ min: 1, max: 400_000 });
const step = fc.oneof(
  fc.record({ action: fc.constant('set' as const), id, container: fc.integer({ min: 1, max: 3 }), text }),
  fc.record({ action: fc.constant('remove' as const), id }),
  fc.record({ action: fc.constant('find' as const), word, within: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { maxLength: 1 }) }),
);

test('a search finds exactly the records that contain the word or belong to a given container, after any additions, changes and removals', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9000 }), fc.array(step, { maxLength: 60 }), (initialCount, steps) => {
      const index = new TextIndex();
      const records = new Map<number, { container: number; text: string }>();
      const first = Array.from({ length: initialCount }, (_, number) => ({ id: number * 40 + 1, container: 1, text: `a${number}` }));
      for (const record of first) records.set(record.id, record);
      index.append(first);
      for (const step of steps) {
        if (step.action === 'set') {
          index.set(step);
          records.set(step.id, step);
        } else if (step.action === 'remove') {
          index.remove(step.id);
          records.delete(step.id);
        } else {
          const expected = [...records].filter(([, record]) => record.text.includes(step.word) || step.within.includes(record.container));
          const matches = index.find(step.word, step.within);
          assert.deepEqual(
            matches.toArray().toSorted((a, b) => a - b),
            expected.map(([id]) => id).sort((a, b) => a - b),
          );
          assert.equal(matches.count(), expected.length);
          assert.equal(index.size, records.size);
        }
      }
    }),
    { numRuns: 150 },
  );
});

test('ids that are far apart or beyond 32 bits are not confused', () => {
  const index = new TextIndex();
  const ids = [1, 65_536, 65_537, 2 ** 31, 2 ** 32 + 1, 2 ** 40];
  index.append(ids.map((id) => ({ id, container: 0, text: 'x' })));
  const matches = index.find('x', []);
  assert.deepEqual(matches.toArray(), ids);
  assert.deepEqual([matches.has(1), matches.has(2 ** 32), matches.has(2 ** 32 + 1), matches.has(2 ** 40)], [true, false, true, true]);
});

test('texts of a hundred thousand characters are found after additions, changes and removals', () => {
  const index = new TextIndex();
  const texts = new Map<number, string>();
  const put = (id: number, words: string) => {
    const text = words.padEnd(100_000, '契');
    texts.set(id, text);
    return { id, container: 0, text };
  };
  index.append(Array.from({ length: 20 }, (_, number) => put(10 * (number + 1), `old${number}`)));
  for (let id = 5; id < 200; id += 7) index.set(put(id, `new${id} ${'ё'.repeat(id)}`));
  for (let id = 10; id < 200; id += 30) {
    index.remove(id);
    texts.delete(id);
  }
  for (const word of ['old', 'old1', 'new', 'new12', 'ёёё契', 'none'])
    assert.deepEqual(
      index
        .find(word, [])
        .toArray()
        .toSorted((a, b) => a - b),
      [...texts]
        .filter(([, text]) => text.includes(word))
        .map(([id]) => id)
        .sort((a, b) => a - b),
      word,
    );
  const rebuiltIndex = new TextIndex();
  rebuiltIndex.append([...texts].sort(([a], [b]) => a - b).map(([id, text]) => ({ id, container: 0, text })));
  rebuiltIndex.find('none', []);
  assert.ok(Math.abs(index.bytes - rebuiltIndex.bytes) < 10_000, '`bytes` is about the same as for a rebuilt index');
});
