import pLimit from 'p-limit';
import { StorageUnavailable } from '#ports/storage-errors.ts';

const [atOnce, maxWaiting] = [4, 1000];

/**
 * Returns a function that runs deletions at a location, a few at a time. Without this limit, a service that does not respond could hold
 * thousands of connections. The function throws StorageUnavailable if too many deletions wait; the sweep then deletes the rest.
 */
export function deletionLimit(): <T>(deletion: () => Promise<T>) => Promise<T> {
  const limit = pLimit(atOnce);
  return async (deletion) => {
    if (limit.pendingCount >= maxWaiting) throw new StorageUnavailable('too many deletions wait for the service');
    return limit(deletion);
  };
}
