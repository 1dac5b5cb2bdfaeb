import type { TestContext } from 'node:test';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { StoreUnavailable } from '#ports/store.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import type { TestPostern } from '../start.ts';

/** Calls that are not counted, because background jobs can make them at any time. */
const background = ['storage.check', 'storage.recover', 'storage.clearEvidence', 'storage.sweep'];

/** When the n-th call or write fails: before it does anything, or after it has done its work. */
export type Moment = 'before' | 'after';

/** Makes one call of a storage, or one write to the database, fail. */
export interface FailureControl {
  /** Counts calls and writes from now on, and makes the n-th one fail. */
  failCall(number: number, moment: Moment): void;
  /** Makes no further call or write fail. @returns whether one has failed */
  stopFailing(): boolean;
}

/** Starts Postern with real parts. The test can make one call of its storages, or one write to its database, fail. */
export async function startWithFailingCalls(t: TestContext): Promise<{ postern: TestPostern; failureControl: FailureControl }> {
  let callsLeft = Number.POSITIVE_INFINITY;
  let failingMoment: Moment | null = null;
  let hasFailed = false;
  const count = (moment: Moment, error: () => Error) => {
    if (failingMoment !== moment) return;
    callsLeft -= 1;
    if (callsLeft !== 0) return;
    hasFailed = true;
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
    count('after', () => new StoreUnavailable('the response was lost'));
    return value;
  };
  t.mock.method(store, 'write', failingWrite);
  const failureControl: FailureControl = {
    failCall(number, moment) {
      [callsLeft, failingMoment, hasFailed] = [number, moment, false];
    },
    stopFailing() {
      failingMoment = null;
      return hasFailed;
    },
  };
  return { postern, failureControl };
}
