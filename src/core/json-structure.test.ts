import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exceededJsonLimit } from './json-structure.ts';

const exceededLimit = (text: string) => exceededJsonLimit(Buffer.from(text), { depth: 32, values: 50_000 });
const mebibyte = 1 << 20;

test('a JSON text with very many levels or values exceeds a limit', () => {
  assert.equal(exceededLimit('['.repeat(mebibyte)), 'depth');
  assert.equal(exceededLimit('{"a":'.repeat(33)), 'depth');
  for (const [begin, value] of [
    ['[', '{},'],
    ['[', '1,'],
    ['{', '"a":1,'],
  ] as const)
    assert.equal(exceededLimit(begin + value.repeat(60_000)), 'values', value);
});

test('a thousand access users, long texts and brackets within strings exceed no limit', () => {
  const user = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`field ${index}`, 'text']));
  assert.equal(exceededLimit(JSON.stringify({ users: Array.from({ length: 1000 }, () => user) })), null);
  assert.equal(exceededLimit(JSON.stringify({ names: '[{,'.repeat(100_000), quoted: '"\\'.repeat(100_000) })), null);
  assert.equal(exceededLimit('{"a":"an unfinished string \\'), null);
});

test('the count of values takes time in proportion to the length of the text', () => {
  const steps = (text: string) => {
    let count = 0;
    const countingBuffer = new Proxy(Buffer.from(text), {
      get(target, key) {
        count += 1;
        return Reflect.get(target, key);
      },
    });
    exceededJsonLimit(countingBuffer, { depth: 32, values: 50_000 });
    return count;
  };
  for (const piece of ['"\\"', '" "', '\\\\', '      ']) assert.ok(steps(piece.repeat(2000)) <= 2.2 * steps(piece.repeat(1000)), piece);
});
