import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenFinder } from './token-finder.ts';

test('a token is found at the beginning, in the middle and at the end of a name, and not in other names', () => {
  const contains = tokenFinder(['abcd', 'xyz']);
  for (const name of ['abcd', 'abcd-twin', '.postern-abcd', '.postern-xyz-name']) assert.ok(contains(name), name);
  for (const name of ['', 'abc', 'ab-cd', 'xy']) assert.ok(!contains(name), name);
  assert.ok(!tokenFinder([])('abcd'));
});
