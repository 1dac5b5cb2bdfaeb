import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { SearchThread } from '#adapters/store/sqlite/search/searcher.ts';
import { atEnd } from '../parts/at-end.ts';
import { temporaryFolder } from '../start.ts';

function threadOn(t: TestContext, file: string) {
  const thread = new SearchThread({ file, maxBytes: 0 }, () => {});
  atEnd(t, () => thread[Symbol.asyncDispose]());
  return thread;
}

test('held queries run after they are released, and after all earlier queries', async (t) => {
  const file = join(await temporaryFolder(t), 'a.db');
  new DatabaseSync(file).close();
  const thread = threadOn(t, file);
  const order: string[] = [];
  const ask = async (name: string) => {
    await thread.query('SELECT 1', []);
    order.push(name);
  };
  const before = ask('before');
  const hold = thread.hold();
  const held = ask('held');
  await hold.idle;
  await before;
  order.push('idle');
  assert.equal(thread.pendingCount, 1);
  hold.release();
  await held;
  assert.deepEqual(order, ['before', 'idle', 'held']);
});

test('if the search thread ends while queries are held, all queries fail and none waits forever', async (t) => {
  const thread = threadOn(t, join(await temporaryFolder(t), 'is not there.db'));
  const ask = async () => thread.query('SELECT 1', []);
  const before = assert.rejects(ask());
  const hold = thread.hold();
  const held = assert.rejects(ask());
  await hold.idle;
  hold.release();
  await Promise.all([before, held]);
});
