import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxConnections } from './descriptors.ts';

test('the limit leaves a descriptor for the file of each connection, one more for each upload, and some for Postern itself', () => {
  for (const [limit, uploads] of [
    [256, 42],
    [1024, 298],
    [20_000, 640],
  ] as const) {
    const connections = maxConnections(limit) ?? 0;
    assert.ok(connections >= uploads, String(limit));
    assert.ok(2 * connections + uploads + 128 <= limit, String(limit));
  }
  assert.equal(maxConnections(null), undefined);
});
