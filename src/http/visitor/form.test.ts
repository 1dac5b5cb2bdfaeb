import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseForm } from './form.ts';

const fieldsOf = (body: string) => [...parseForm(Buffer.from(body))];

test('a form is decoded: plus signs, percent-encoded characters, and fields without a value', () => {
  assert.deepEqual(fieldsOf('RelayState=a+b%2Bc&name%20=%E2%82%AC&empty=&none&a=b=c'), [
    ['RelayState', 'a b+c'],
    ['name ', '€'],
    ['empty', ''],
    ['none', ''],
    ['a', 'b=c'],
  ]);
  assert.deepEqual(fieldsOf(`a=${'+'.repeat(390_000)}`), [['a', ' '.repeat(390_000)]]);
});

test('a form with an invalid percent-encoded character or too many fields is refused as malformed', () => {
  for (const body of ['a=%', 'a=%4', 'a=%zz', '%ff=b']) assert.throws(() => fieldsOf(body), { messageName: 'requestMalformed' }, body);
  assert.throws(() => fieldsOf('a&'.repeat(21)), { messageName: 'requestMalformed' });
});
