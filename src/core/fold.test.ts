import assert from 'node:assert/strict';
import test from 'node:test';
import { foldedNames } from './fold.ts';

test('the folded forms of a list of names are computed once for the list, and equal forms are merged', () => {
  const groups = ['Équipe', 'E\u0301quipe', 'AUDIT'];
  assert.deepEqual([...foldedNames(groups)], ['équipe', 'audit']);
  assert.equal(foldedNames(groups), foldedNames(groups));
});
