import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { StoreAway } from '#ports/store.ts';
import type { TestPostern } from '../start.ts';

/** Uploads a file whose outcome cannot be written: the database is away once the file is in place. */
export async function uploadUnrecorded(t: TestContext, postern: TestPostern, path: string): Promise<void> {
  const { store } = postern.ports;
  const { write } = store;
  let writes = 0;
  const failing: typeof write = (change, options) => {
    writes += 1;
    return writes === 1 ? write(change, options) : Promise.reject(new StoreAway('it is away'));
  };
  const mocked = t.mock.method(store, 'write', failing);
  const { status } = await postern.visit(path, { method: 'PUT', body: 'kept' });
  mocked.mock.restore();
  assert.equal(status, 503);
}
