import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitChanges } from './change-limits.ts';

const busy = { messageName: 'changesBusy' };

test('unfinished changes of a tenant are limited in number and bytes, and other tenants are not affected', async () => {
  const runLimited = limitChanges();
  const gate = Promise.withResolvers<void>();
  const small = Array.from({ length: 256 }, () => runLimited(1, 100, () => gate.promise));
  await assert.rejects(
    runLimited(1, 100, async () => {}),
    busy,
  );
  const large = Array.from({ length: 64 }, () => runLimited(2, 1 << 20, () => gate.promise));
  await assert.rejects(
    runLimited(2, 100, async () => {}),
    busy,
  );
  assert.equal(await runLimited(3, 1 << 20, async () => 'of another tenant'), 'of another tenant');
  gate.resolve();
  await Promise.all([...small, ...large]);
  for (const tenant of [1, 2]) assert.equal(await runLimited(tenant, 100, async () => 'there is room'), 'there is room');
});
