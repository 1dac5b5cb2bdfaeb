import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { SearchThread } from '#adapters/store/sqlite/search/search-thread-client.ts';
import { createSearchThreads } from '#adapters/store/sqlite/search/search-threads.ts';
import { atEnd } from '../parts/at-end.ts';
import { temporaryFolder } from '../start.ts';

function openThread(t: TestContext, file: string) {
  const thread = new SearchThread({ file, maxBytes: 0 }, () => {});
  atEnd(t, () => thread[Symbol.asyncDispose]());
  return thread;
}

test('held queries run after they are released, and after all earlier queries', async (t) => {
  const file = join(await temporaryFolder(t), 'a.db');
  new DatabaseSync(file).close();
  const thread = openThread(t, file);
  const order: string[] = [];
  const query = async (name: string) => {
    await thread.query('SELECT 1', []);
    order.push(name);
  };
  const before = query('before');
  const hold = thread.hold();
  const heldQuery = query('held');
  await hold.idle;
  await before;
  order.push('idle');
  assert.equal(thread.pendingCount, 1);
  hold.release();
  await heldQuery;
  assert.deepEqual(order, ['before', 'idle', 'held']);
});

test('if the search thread ends while queries are held, all queries fail and none waits forever', async (t) => {
  const thread = openThread(t, join(await temporaryFolder(t), 'is not there.db'));
  const query = async () => thread.query('SELECT 1', []);
  const before = assert.rejects(query());
  const hold = thread.hold();
  const heldQuery = assert.rejects(query());
  await hold.idle;
  hold.release();
  await Promise.all([before, heldQuery]);
});

test('while a tenant searches a long audit log, the searches of others get their results first', async (t) => {
  const file = join(await temporaryFolder(t), 'a.db');
  new DatabaseSync(file).close();
  const threads = createSearchThreads(file, 0, () => {});
  atEnd(t, async () => {
    for (const thread of threads.all) await thread[Symbol.asyncDispose]();
  });
  const order: string[] = [];
  const addToOrder = (name: string) => () => void order.push(name);
  const count =
    'WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 3000000) SELECT count(*) FROM counted';
  const history = Promise.resolve(threads.runLong(count, [])).then(addToOrder('history'));
  const others = [threads.run, threads.run, threads.runLong].map((run) => Promise.resolve(run('SELECT 1', [])).then(addToOrder('other')));
  await Promise.all([history, ...others]);
  assert.deepEqual(order, ['other', 'other', 'other', 'history']);
});
