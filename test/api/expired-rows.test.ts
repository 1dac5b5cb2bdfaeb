import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteExpiredRows } from '#features/jobs/delete-expired-rows.ts';
import type { Store } from '#ports/store.ts';
import { startPostern } from '../start.ts';

test('expired rows are deleted in batches, so that other writes can run in between', async (t) => {
  const { ports } = await startPostern(t);
  const rows = Array.from({ length: 2500 }, (_, index) => ({ key: `guess ${index}`, at: 0 }));
  await ports.store.write(async (tx) => {
    for (let begin = 0; begin < rows.length; begin += 500)
      await tx
        .insertInto('failure')
        .values(rows.slice(begin, begin + 500))
        .execute();
  }, 'job');
  const remainingCounts: number[] = [];
  const write: Store['write'] = async (change, ...rest) => {
    const value = await ports.store.write(change, ...rest);
    remainingCounts.push((await ports.store.read.selectFrom('failure').select('id').execute()).length);
    return value;
  };
  await deleteExpiredRows({ ...ports, store: { ...ports.store, write } });
  assert.deepEqual(remainingCounts.slice(0, 3), [1500, 500, 0]);
});

test('if no row has expired, the deletion of expired rows begins no write, so that other writes do not wait for its search', async (t) => {
  const { ports } = await startPostern(t);
  const write = t.mock.fn(ports.store.write);
  await deleteExpiredRows({ ...ports, store: { ...ports.store, write } });
  assert.equal(write.mock.callCount(), 0);
});
