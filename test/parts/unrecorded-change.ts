import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { StoreUnavailable } from '#ports/store.ts';
import type { TestPostern, TestResponse } from '../start.ts';

/** Requests a change whose outcome cannot be recorded: the database becomes unavailable after the change took place. */
export async function askUnrecorded(t: TestContext, { ports: { store } }: TestPostern, ask: () => Promise<TestResponse>): Promise<void> {
  const { write } = store;
  let writes = 0;
  const failing: typeof write = (change, ...rest) => {
    writes += 1;
    return writes === 1 ? write(change, ...rest) : Promise.reject(new StoreUnavailable('the database is unavailable'));
  };
  const mocked = t.mock.method(store, 'write', failing);
  const { status } = await ask();
  mocked.mock.restore();
  assert.equal(status, 503);
}

export const uploadUnrecorded = (t: TestContext, postern: TestPostern, path: string): Promise<void> =>
  askUnrecorded(t, postern, () => postern.visit(path, { method: 'PUT', body: 'kept' }));
