import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TenantTurns } from './tenant-turns.ts';

test('the work of one tenant does not wait for those of another tenant, which take long', async () => {
  let now = 0;
  const parsed: string[] = [];
  const turns = new TenantTurns(() => now);
  const add = (tid: number, cost: number) =>
    turns.add(tid, () => {
      now += cost;
      parsed.push(`${tid}`);
    });
  for (let count = 0; count < 10; count += 1) add(1, 100);
  while (parsed.length < 3) await new Promise(setImmediate);
  for (let count = 0; count < 3; count += 1) add(2, 1);
  while (parsed.length < 13) await new Promise(setImmediate);
  assert.ok(parsed.lastIndexOf('2') < 8, parsed.join());
});
