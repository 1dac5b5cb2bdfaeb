import { addCount } from '#core/count-by-key.ts';
import { type FairQueue, fairQueue } from '#core/fair-queue.ts';
import type { ListingQuery } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import { type TurnVisitor, turnGroupsOf, wideNetworkOf } from '#features/turns/visitor-turns.ts';
import type { ListingJson } from './listing-json.ts';

/** Pages read at once of one location: its disk has one thread for them, and a second page can be prepared meanwhile. */
const mostAtOnce = 2;
/**
 * Requests that may wait, or whose answers are still on their way: of one visitor of a link, of a network, of a wide one
 * and of a link, and those that wait for a location.
 */
const mostWaiting = { visitor: 32, network: 64, wide: 128, link: 256, location: 512 };
const retryAfter = 2; // seconds

/** Who asks for a page of which folder. */
export interface ListingTurnRequest extends TurnVisitor {
  readonly locationId: number;
  /** Path within the location. */
  readonly path: string;
  readonly query: ListingQuery;
  /** Aborted when nobody waits for the answer any more. */
  readonly left: AbortSignal;
  /** Resolves when the answer has gone, or its client: until then it is held in memory. */
  readonly sent: Promise<unknown>;
}

type Page = ListingJson | null;

/** A page that is to be read, for all who ask for the same before it begins. */
interface Job {
  readonly key: string;
  readonly read: () => Promise<Page>;
  readonly result: PromiseWithResolvers<Page>;
  /** Requests that wait for it, by their groups: it is read when the first of these has its turn. */
  readonly waiting: Map<string, { readonly groups: readonly string[]; count: number }>;
}

interface LocationTurns {
  readonly queue: FairQueue<Job>;
  /** Jobs that wait, by what they read. */
  readonly jobs: Map<string, Job>;
  running: number;
}

/** Reads pages of folders, and writes them out, in turns: by location, then by link, then by address. */
export interface ListingTurns {
  /** @throws 503 where too many wait already; the reason of `left` where the visitor left before its turn came */
  page(request: ListingTurnRequest, read: () => Promise<Page>): Promise<Page>;
  /** How many pages wait for their turn. */
  waiting(): number;
}

const newTurns = (): LocationTurns => ({ queue: fairQueue<Job>(), jobs: new Map(), running: 0 });

/** Removes a job from every place where it waits. */
function unqueue({ queue, jobs }: LocationTurns, job: Job): void {
  jobs.delete(job.key);
  for (const { groups } of job.waiting.values()) queue.remove(groups, job);
}

export function listingTurns(): ListingTurns {
  const locations = new Map<number, LocationTurns>();
  /** Requests that wait or are answered, by visitor, network and link. */
  const held = new Map<string, number>();

  function next(id: number, turns: LocationTurns): void {
    while (turns.running < mostAtOnce) {
      const job = turns.queue.take();
      if (!job) break;
      unqueue(turns, job);
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
  /** Joins the job that waits for the same page, or adds one. One that runs already may have begun before a change. */
  function join(turns: LocationTurns, key: string, groups: readonly string[], read: () => Promise<Page>): Job {
    const job: Job = turns.jobs.get(key) ?? { key, read, result: Promise.withResolvers(), waiting: new Map() };
    turns.jobs.set(key, job);
    const place = groups.join('\n');
    const mine = job.waiting.get(place) ?? { groups, count: 0 };
    if (mine.count === 0) turns.queue.add(groups, job);
    mine.count += 1;
    job.waiting.set(place, mine);
    return job;
  }
  /** One request less waits for a job; a job that nobody waits for is not read. */
  function leave(turns: LocationTurns, job: Job, groups: readonly string[]): void {
    const place = groups.join('\n');
    const mine = job.waiting.get(place);
    if (!mine) return;
    mine.count -= 1;
    if (mine.count > 0) return;
    job.waiting.delete(place);
    turns.queue.remove(groups, job);
    if (job.waiting.size > 0 || !turns.jobs.delete(job.key)) return;
    job.result.reject(job.key); // settled, and heard by nobody
  }

  return {
    waiting: () => [...locations.values()].reduce((sum, { jobs }) => sum + jobs.size, 0),
    async page(request, read) {
      const { locationId, path, query, left, sent } = request;
      left.throwIfAborted();
      const turns = locations.get(locationId) ?? newTurns();
      const groups = turnGroupsOf(request);
      const [link, network] = groups;
      const bounds = [
        { name: `visitor ${groups.join('\n')}`, most: mostWaiting.visitor + mostAtOnce },
        { name: `network ${network}`, most: mostWaiting.network },
        { name: `wide network ${wideNetworkOf(request.address)}`, most: mostWaiting.wide },
        { name: `link ${link}`, most: mostWaiting.link },
      ];
      const isFull = turns.queue.count([]) >= mostWaiting.location || bounds.some(({ name, most }) => (held.get(name) ?? 0) >= most);
      if (isFull) throw new Refusal('listingBusy', undefined, { retryAfter });
      locations.set(locationId, turns);
      for (const { name } of bounds) {
        addCount(held, name, 1);
        void sent.finally(() => addCount(held, name, -1));
      }
      const job = join(turns, JSON.stringify([path, query]), groups, read);
      next(locationId, turns);
      const gone = Promise.withResolvers<never>();
      const onLeft = () => {
        gone.reject(left.reason); // first: the job is rejected by nothing that a log could name
        leave(turns, job, groups);
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
