import assert from 'node:assert/strict';
import { test } from 'node:test';
import { possibleTokens } from './possible-tokens.ts';

test('a token is found in the name of a staging file, with and without the prefix .postern- and a suffix', () => {
  for (const token of ['abcd', 'ab-cd', '-ab_cd-'])
    for (const suffix of ['', '-mark', '-second-name'])
      for (const prefix of ['', '.postern-']) assert.ok(possibleTokens(prefix + token + suffix).includes(token), prefix + token + suffix);
  assert.ok(!possibleTokens('abcd').includes('abc'));
  assert.ok(possibleTokens('-'.repeat(255)).every(({ length }) => length <= 64));
});
