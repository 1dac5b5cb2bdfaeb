import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitChanges } from './waiting-changes.ts';

const busy = { messageName: 'changesBusy' };

test('of one tenant so many changes are under way, of so many bytes, though their clients have left', async () => {
  const hold = limitChanges();
  const gate = Promise.withResolvers<void>();
  const small = Array.from({ length: 256 }, () => hold(1, 100, () => gate.promise));
  await assert.rejects(
    hold(1, 100, async () => {}),
    busy,
  );
  const large = Array.from({ length: 64 }, () => hold(2, 1 << 20, () => gate.promise));
  await assert.rejects(
    hold(2, 100, async () => {}),
    busy,
  );
  assert.equal(await hold(3, 1 << 20, async () => 'of another tenant'), 'of another tenant');
  gate.resolve();
  await Promise.all([...small, ...large]);
  for (const tenant of [1, 2]) assert.equal(await hold(tenant, 100, async () => 'there is room'), 'there is room');
});
