import { type FairQueue, fairQueue } from '#core/fair-queue.ts';
import type { ListingPage, ListingQuery } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import { networkOf } from '#core/policy/address-range.ts';

/** Pages read at once of one location: its disk has one thread for them, and a second page can be prepared meanwhile. */
const mostAtOnce = 2;
/** Pages that may wait: for one visitor of a link, and for a location. */
const mostWaiting = { visitor: 32, location: 512 };
const retryAfter = 2; // seconds

/** Who asks for a page of which folder. */
export interface ListingRequest {
  readonly locationId: number;
  /** Path within the location. */
  readonly path: string;
  readonly query: ListingQuery;
  readonly viewId: string;
  readonly address: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly left: AbortSignal;
}

type Page = ListingPage | null;

/** A page that is to be read, for all who ask for the same before it begins. */
interface Job {
  readonly key: string;
  readonly groups: readonly string[];
  readonly read: () => Promise<Page>;
  readonly result: PromiseWithResolvers<Page>;
  waiting: number;
}

interface LocationTurns {
  readonly queue: FairQueue<Job>;
  /** Jobs that wait, by what they read. */
  readonly jobs: Map<string, Job>;
  running: number;
}

/** Reads pages of folders in turns: by location, then by link, then by address. */
export interface ListingTurns {
  /** @throws 503 where too many wait already; the reason of `left` where the visitor left before its turn came */
  page(request: ListingRequest, read: () => Promise<Page>): Promise<Page>;
  /** How many pages wait for their turn. */
  waiting(): number;
}

export function listingTurns(): ListingTurns {
  const locations = new Map<number, LocationTurns>();

  function next(id: number, turns: LocationTurns): void {
    while (turns.running < mostAtOnce) {
      const job = turns.queue.take();
      if (!job) break;
      turns.jobs.delete(job.key);
      turns.running += 1;
      job
        .read()
        .then(job.result.resolve, job.result.reject)
        .finally(() => {
          turns.running -= 1;
          next(id, turns);
        });
    }
    if (turns.running === 0) locations.delete(id);
  }
  function add(turns: LocationTurns, key: string, { viewId, address }: ListingRequest, read: () => Promise<Page>): Job {
    const groups = [viewId, networkOf(address, 32, 64)];
    if (turns.queue.count([]) >= mostWaiting.location || turns.queue.count(groups) >= mostWaiting.visitor)
      throw new Refusal('listingBusy', undefined, { retryAfter });
    const job: Job = { key, groups, read, result: Promise.withResolvers(), waiting: 0 };
    turns.queue.add(groups, job);
    turns.jobs.set(key, job);
    return job;
  }
  /** Nobody waits for it: it is not read. */
  function leave(turns: LocationTurns, job: Job): void {
    job.waiting -= 1;
    if (job.waiting > 0 || !turns.queue.remove(job.groups, job)) return;
    turns.jobs.delete(job.key);
    job.result.reject(job.groups); // settled, and heard by nobody
  }

  return {
    waiting: () => [...locations.values()].reduce((sum, { queue }) => sum + queue.count([]), 0),
    async page(request, read) {
      const { locationId, path, query, left } = request;
      left.throwIfAborted();
      const turns = locations.get(locationId) ?? { queue: fairQueue<Job>(), jobs: new Map(), running: 0 };
      locations.set(locationId, turns);
      const key = JSON.stringify([path, query]);
      // One that runs already may have begun before a change that this request is to see.
      const job = turns.jobs.get(key) ?? add(turns, key, request, read);
      job.waiting += 1;
      next(locationId, turns);
      const gone = Promise.withResolvers<never>();
      const onLeft = () => {
        leave(turns, job);
        gone.reject(left.reason);
      };
      left.addEventListener('abort', onLeft, { once: true });
      try {
        return await Promise.race([job.result.promise, gone.promise]);
      } finally {
        left.removeEventListener('abort', onLeft);
      }
    },
  };
}
