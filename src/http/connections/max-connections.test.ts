import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxConnections } from './max-connections.ts';

test('the connection limit reserves two file descriptors per connection, one more for each of the expected uploads, and 144 for Postern itself', () => {
  for (const [limit, uploads] of [
    [256, 37],
    [1024, 293],
    [20_000, 640],
  ] as const) {
    const connections = maxConnections(limit, 2 ** 40);
    assert.ok(connections >= uploads, String(limit));
    assert.ok(2 * connections + uploads + 144 <= limit, String(limit));
  }
});

test('with enough file descriptors, the connection limit leaves memory for a slow client on each connection, but is at least 512', () => {
  for (const [memory, most] of [
    [0.5, 512],
    [0.75, 2621],
    [1, 5242],
    [4, 36_700],
  ] as const)
    assert.equal(maxConnections(65_536, memory * 2 ** 30), Math.min(most, 32_376), String(memory));
  assert.equal(maxConnections(null, 2 ** 30), 5242);
});
