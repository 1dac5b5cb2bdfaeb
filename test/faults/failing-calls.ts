import type { TestContext } from 'node:test';
import { StorageUnavailable } from '#ports/storage.ts';
import { StoreUnavailable } from '#ports/store.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import type { TestPostern } from '../start.ts';

/** Calls that also run in the background, at any time: they are not counted. */
const background = ['storage.check', 'storage.recover', 'storage.clearEvidence', 'storage.sweep'];

/** Whether the n-th call fails before it does anything, or returns an error although it has done its work. */
export type Moment = 'before' | 'after';

/** Fails one call of the storage or of the database. */
export interface FailureControl {
  /** The n-th call from now on fails. */
  failCall(number: number, moment: Moment): void;
  /** No call fails any more. @returns whether one did */
  stopFailing(): boolean;
}

/** Starts a complete Postern with real parts. The test can make one call of its storages or of its database fail. */
export async function startWithFailingCalls(t: TestContext): Promise<{ postern: TestPostern; failureControl: FailureControl }> {
  let left = Number.POSITIVE_INFINITY;
  let failingMoment: Moment | null = null;
  let failed = false;
  const count = (moment: Moment, error: () => Error) => {
    if (failingMoment !== moment) return;
    left -= 1;
    if (left !== 0) return;
    failed = true;
    throw error();
  };
  const storageAt = (moment: Moment) => (method: string) => {
    if (!background.includes(method)) count(moment, () => new StorageUnavailable(`${method} failed, ${moment}`));
  };
  const postern = await startWithStorages(t, storageAt('before'), {}, storageAt('after'));
  const { store } = postern.ports;
  const { write } = store;
  const failingWrite: typeof write = async (change, ...rest) => {
    count('before', () => new StoreUnavailable('the database is unavailable'));
    const value = await write(change, ...rest);
    count('after', () => new StoreUnavailable('the answer was lost'));
    return value;
  };
  t.mock.method(store, 'write', failingWrite);
  const failureControl: FailureControl = {
    failCall(number, moment) {
      [left, failingMoment, failed] = [number, moment, false];
    },
    stopFailing() {
      failingMoment = null;
      return failed;
    },
  };
  return { postern, failureControl };
}
