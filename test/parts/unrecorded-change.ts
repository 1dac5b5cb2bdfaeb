import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { StoreUnavailable } from '#ports/store.ts';
import type { TestPostern, TestResponse } from '../start.ts';

/**
 * Requests a change. The database accepts the writes that precede the change of files, and is then unavailable, so the outcome is not
 * recorded.
 * @param holdsNames whether a change of this kind writes its names to the table `held_name` first if several processes can share the
 *   database
 */
export async function requestUnrecordedChange(
  t: TestContext,
  { ports: { store } }: TestPostern,
  request: () => Promise<TestResponse>,
  holdsNames: boolean,
): Promise<void> {
  const { write } = store;
  const writesBefore = holdsNames && store.isShared ? 2 : 1;
  let writes = 0;
  const failingWrite: typeof write = (change, ...rest) => {
    writes += 1;
    return writes <= writesBefore ? write(change, ...rest) : Promise.reject(new StoreUnavailable('the database is unavailable'));
  };
  const writeMock = t.mock.method(store, 'write', failingWrite);
  const { status } = await request();
  writeMock.mock.restore();
  assert.equal(status, 503);
}

export const uploadWithoutRecord = (t: TestContext, postern: TestPostern, path: string): Promise<void> =>
  requestUnrecordedChange(t, postern, () => postern.visit(path, { method: 'PUT', body: 'kept' }), false);
