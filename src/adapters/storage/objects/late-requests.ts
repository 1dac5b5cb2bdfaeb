import { LRUCache } from 'lru-cache';
import { StorageUnavailable } from '#ports/storage-errors.ts';

const maxChanges = 10_000;
const bytesPerMillisecond = 10_000; // that a slow service copies

/**
 * Returns for how long a service may still carry out a request after the connection was lost, in ms.
 * @param copiedBytes size of the object that the request copies
 */
export const maxWorkTime = (copiedBytes = 0): number => 30_000 + copiedBytes / bytesPerMillisecond;

/** Decides whether a service may still carry out a late request of a change: then its name must not be used for anything else. */
export class LateRequests {
  readonly #now: () => number;
  /** When this process first saw a change. */
  readonly #firstSeen = new LRUCache<string, number>({ max: maxChanges });

  /** @param now ms since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * @param at time of the last known request, in ms since the epoch, by the clock of the service, which may be wrong
   * @param workTime see `maxWorkTime`
   * @throws StorageUnavailable if too little time has passed since the request, and since this process first saw the change
   */
  check(token: string, at: number, workTime: number): void {
    const now = this.#now();
    const firstSeen = this.#firstSeen.get(token) ?? now;
    this.#firstSeen.set(token, firstSeen);
    const age = now - at;
    if (age > workTime || now - firstSeen > workTime) return;
    throw new StorageUnavailable('the service may still be working on a request of the change');
  }
}
