import assert from 'node:assert/strict';
import test from 'node:test';
import { foldedNames } from './fold.ts';

test('the many groups of a session are folded once, not for each of its requests', () => {
  const groups = ['Équipe', 'E\u0301quipe', 'AUDIT'];
  assert.deepEqual([...foldedNames(groups)], ['équipe', 'audit']);
  assert.equal(foldedNames(groups), foldedNames(groups));
});
