import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxConnections } from './descriptors.ts';

test('the connection limit reserves two file descriptors per connection, one more per upload, and 144 for Postern itself', () => {
  for (const [limit, uploads] of [
    [256, 37],
    [1024, 293],
    [20_000, 640],
  ] as const) {
    const connections = maxConnections(limit) ?? 0;
    assert.ok(connections >= uploads, String(limit));
    assert.ok(2 * connections + uploads + 144 <= limit, String(limit));
  }
  assert.equal(maxConnections(null), undefined);
});
