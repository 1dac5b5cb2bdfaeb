import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkJsonStructure } from './json-structure.ts';

const check = (text: string) => checkJsonStructure(Buffer.from(text));
const mebibyte = 1 << 20;

test('a body with very many levels or values is refused before it is parsed', () => {
  assert.throws(() => check('['.repeat(mebibyte)), { messageName: 'bodyMalformed' });
  assert.throws(() => check('{"a":'.repeat(33)), { messageName: 'bodyMalformed' });
  for (const [begin, value] of [
    ['[', '{},'],
    ['[', '1,'],
    ['{', '"a":1,'],
  ] as const)
    assert.throws(() => check(begin + value.repeat(60_000)), { messageName: 'bodyTooLarge' }, value);
});

test('a thousand access users, long texts and brackets within strings are no reason to refuse a body', () => {
  const user = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`field ${index}`, 'text']));
  check(JSON.stringify({ users: Array.from({ length: 1000 }, () => user) }));
  check(JSON.stringify({ names: '[{,'.repeat(100_000), quoted: '"\\'.repeat(100_000) }));
  check('{"a":"an unfinished string \\');
});

test('the check of a body takes time in proportion to its length', () => {
  const steps = (text: string) => {
    let count = 0;
    const counted = new Proxy(Buffer.from(text), {
      get(target, key) {
        count += 1;
        return Reflect.get(target, key);
      },
    });
    checkJsonStructure(counted);
    return count;
  };
  for (const piece of ['"\\"', '" "', '\\\\', '      ']) assert.ok(steps(piece.repeat(2000)) <= 2.2 * steps(piece.repeat(1000)), piece);
});
