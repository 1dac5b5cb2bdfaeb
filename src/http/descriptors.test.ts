import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostConnections } from './descriptors.ts';

test('connections leave a descriptor for the file of each, and some for Postern itself', () => {
  for (const limit of [256, 1024, 20_000]) assert.ok(2 * (mostConnections(limit) ?? 0) + 128 <= limit, String(limit));
  assert.equal(mostConnections(null), undefined);
});
