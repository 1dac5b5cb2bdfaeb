import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followTransfers } from '#features/visits/transfers/follow-transfers.ts';

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
