import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followTransfers } from '#features/visits/transfers/follow-transfers.ts';
import { until } from '../ports/until.ts';

test('drain() waits until the outcome of each transfer that it aborts is recorded', async () => {
  const transfers = followTransfers(() => 0);
  const recordedNames: string[] = [];
  for (const name of ['download', 'upload']) {
    const end = transfers.follow({
      stillPermitted: async () => true,
      abort: () =>
        setImmediate(() => {
          recordedNames.push(name);
          end();
        }),
    });
  }
  await transfers.drain(0);
  transfers.stop();
  assert.deepEqual(recordedNames, ['download', 'upload']);
});

test('all running transfers are checked, but at most four at once, so that other requests get a database connection', async (t) => {
  const transfers = followTransfers(() => 0, 1);
  t.after(() => transfers.stop());
  const waiting: (() => void)[] = [];
  const checked = new Set<number>();
  for (let number = 0; number < 50; number += 1)
    transfers.follow({
      stillPermitted: () => {
        checked.add(number);
        return new Promise((resolve) => waiting.push(() => resolve(true)));
      },
      abort: () => assert.fail('a permitted transfer must not be aborted'),
    });
  while (checked.size < 50) {
    await until(() => waiting.length > 0);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    assert.ok(waiting.length <= 4, `${waiting.length} checks at once`);
    for (const end of waiting.splice(0)) end();
  }
});
