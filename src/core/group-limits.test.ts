import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupsProblem } from './group-limits.ts';

test('the groups of a user are refused if there are more than a thousand, or if their names together are too long', () => {
  const groups = (count: number, length: number) => Array.from({ length: count }, () => 'g'.repeat(length));
  assert.equal(groupsProblem(groups(1000, 100)), null);
  assert.match(groupsProblem(groups(1001, 1)) ?? '', /more than 1000 groups/);
  assert.match(groupsProblem(groups(1000, 263)) ?? '', /262144 characters/);
});
