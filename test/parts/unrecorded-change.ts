import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { StoreUnavailable } from '#ports/store.ts';
import type { TestPostern, TestResponse } from '../start.ts';

/** Requests a change whose outcome cannot be recorded, because the database is unavailable after the first write. */
export async function requestUnrecordedChange(
  t: TestContext,
  { ports: { store } }: TestPostern,
  request: () => Promise<TestResponse>,
): Promise<void> {
  const { write } = store;
  let writes = 0;
  const failingWrite: typeof write = (change, ...rest) => {
    writes += 1;
    return writes === 1 ? write(change, ...rest) : Promise.reject(new StoreUnavailable('the database is unavailable'));
  };
  const writeMock = t.mock.method(store, 'write', failingWrite);
  const { status } = await request();
  writeMock.mock.restore();
  assert.equal(status, 503);
}

export const uploadWithoutRecord = (t: TestContext, postern: TestPostern, path: string): Promise<void> =>
  requestUnrecordedChange(t, postern, () => postern.visit(path, { method: 'PUT', body: 'kept' }));
