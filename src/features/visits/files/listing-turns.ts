import { wideNetworkOf } from '#core/client-networks.ts';
import { addCount } from '#core/count-by-key.ts';
import { type FairQueue, fairQueue } from '#core/fair-queue.ts';
import type { ListingQuery } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import { type TurnVisitor, turnGroupsOf } from '#features/turns/visitor-turns.ts';
import { type WaitingLimit, waitingLimit } from '#features/turns/waiting-limit.ts';
import type { ListingJson } from './listing-json.ts';

/**
 * How many pages are read at once: of a location, for a link, for a folder of a link, and for a wide network in such a
 * folder. A page of a large folder takes a second, and must not delay other links, other folders of its link,
 * or other networks.
 */
const maxConcurrent = { location: 4, link: 3, folder: 2, wide: 1 };
/** Requests that wait or whose responses are still being sent: of a network at one link, of a network and of a wide network. */
const maxRequests = { networkAtLink: 32, network: 64, wide: 128 };
/**
 * Requests that wait for a page of a link or of a location. If more wait, the newest request of the wide network with the most requests is
 * refused. It may be the new request.
 */
const maxWaiting = { link: 256, location: 512 };
const retryAfter = 2; // seconds

/** A request for a page of a folder. */
export interface ListingTurnRequest extends TurnVisitor {
  readonly locationId: number;
  /** Path within the location. */
  readonly path: string;
  readonly query: ListingQuery;
  /** Aborted when the client no longer waits for the response. */
  readonly clientGone: AbortSignal;
  /** Resolves when the response was sent or the client has left. Until then the response is held in memory. */
  readonly responseEnd: Promise<unknown>;
}

type Page = ListingJson | null;

/** A page to read. All requests for the same page that arrive before the read starts share one job. */
interface Job {
  readonly key: string;
  readonly read: () => Promise<Page>;
  readonly result: PromiseWithResolvers<Page>;
  /** Requests that wait for the job, by their groups. The job runs in the first turn that any of them gets. */
  readonly waiters: Map<string, { readonly groups: readonly string[]; count: number }>;
}

interface LocationTurns {
  readonly limit: WaitingLimit;
  readonly limitsByLink: Map<string, WaitingLimit>;
  readonly queue: FairQueue<Job>;
  /** Waiting jobs, by the page that they read. */
  readonly jobs: Map<string, Job>;
  /** Running jobs, with the groups that waited when they began. A job that every client has left still uses its turn. */
  readonly running: Map<Job, readonly (readonly string[])[]>;
}

const busyRefusal = () => new Refusal('listingBusy', undefined, { retryAfter });

const newLimit = (all: number) => waitingLimit({ inner: Number.POSITIVE_INFINITY, all }, busyRefusal);

const newTurns = (): LocationTurns => ({
  ...{ limit: newLimit(maxWaiting.location), limitsByLink: new Map() },
  ...{ queue: fairQueue<Job>(), jobs: new Map(), running: new Map() },
});

/**
 * Counts a request that waits for a page.
 * @param refuse ends its wait in favor of a network with fewer requests
 * @returns a function that ends the count
 * @throws Refusal (503) if too many requests wait at the link or the location
 */
function beginWait(
  { limit, limitsByLink }: LocationTurns,
  { viewId, address }: ListingTurnRequest,
  refuse: (cause: unknown) => void,
): () => void {
  const limitOfLink = limitsByLink.get(viewId) ?? newLimit(maxWaiting.link);
  limitsByLink.set(viewId, limitOfLink);
  const waiting = { inner: '', largeGroups: [wideNetworkOf(address)], refuse };
  const endWait = () => {
    for (const { remove } of [limit, limitOfLink]) remove(waiting);
    if (limitOfLink.count() === 0) limitsByLink.delete(viewId);
  };
  try {
    for (const { add } of [limit, limitOfLink]) add(waiting);
  } catch (cause) {
    endWait();
    throw cause;
  }
  return endWait;
}

/** Returns the groups of a request. Links take turns; within a link its folders, and within a folder the networks of the visitors. */
function listingGroupsOf(request: ListingTurnRequest): readonly string[] {
  const [link, ...networks] = turnGroupsOf(request);
  return [link, request.path, ...networks];
}

/** Returns a function that returns whether a link, a folder or a wide network has as many running jobs as its limit allows. */
function blockedGroups(running: LocationTurns['running']): (groups: readonly string[]) => boolean {
  const limits = [maxConcurrent.link, maxConcurrent.folder, maxConcurrent.wide];
  const counts = new Map<string, number>();
  for (const groupsOfJob of running.values()) {
    const names = groupsOfJob.flatMap((groups) => limits.map((_, index) => groups.slice(0, index + 1).join('\n')));
    for (const name of new Set(names)) addCount(counts, name, 1);
  }
  return (groups) => (counts.get(groups.join('\n')) ?? 0) >= (limits[groups.length - 1] ?? Number.POSITIVE_INFINITY);
}

/** Removes a job from the queues of all groups. */
function unqueue({ queue, jobs }: LocationTurns, job: Job): void {
  jobs.delete(job.key);
  for (const { groups } of job.waiters.values()) queue.remove(groups, job);
}

/** Joins the waiting job for the same page, or adds one. Never joins a running job: it may have read the page before a change. */
function joinJob(turns: LocationTurns, key: string, groups: readonly string[], read: () => Promise<Page>): Job {
  const job: Job = turns.jobs.get(key) ?? { key, read, result: Promise.withResolvers(), waiters: new Map() };
  turns.jobs.set(key, job);
  const groupKey = groups.join('\n');
  const waiter = job.waiters.get(groupKey) ?? { groups, count: 0 };
  if (waiter.count === 0) turns.queue.add(groups, job);
  waiter.count += 1;
  job.waiters.set(groupKey, waiter);
  return job;
}

/** Removes one request from a job that has not begun. Cancels the job if no other request waits for it. */
function leaveJob(turns: LocationTurns, job: Job, groups: readonly string[]): void {
  if (turns.running.has(job)) return;
  const groupKey = groups.join('\n');
  const waiter = job.waiters.get(groupKey);
  if (!waiter) return;
  waiter.count -= 1;
  if (waiter.count > 0) return;
  job.waiters.delete(groupKey);
  turns.queue.remove(groups, job);
  if (job.waiters.size > 0 || !turns.jobs.delete(job.key)) return;
  job.result.reject(job.key); // settles the promise, on which no request waits any more
}

/** Returns the limits on the requests of a visitor's networks. */
function limitsOf(request: ListingTurnRequest): readonly { readonly name: string; readonly max: number }[] {
  const groups = turnGroupsOf(request);
  const [, wide, network] = groups;
  return [
    { name: `network at link ${groups.join('\n')}`, max: maxRequests.networkAtLink },
    { name: `network ${network}`, max: maxRequests.network },
    { name: `wide network ${wide}`, max: maxRequests.wide },
  ];
}

/** Reads pages of folders and formats them as JSON. The requests for one location take turns: by link, then by folder, then by network. */
export class ListingTurns {
  readonly #locations = new Map<number, LocationTurns>();
  /** Requests that wait or whose responses are being sent, by the name of their limit. */
  readonly #requestCounts = new Map<string, number>();

  /** Returns how many pages wait for their turn. */
  waitingCount(): number {
    return [...this.#locations.values()].reduce((sum, { jobs }) => sum + jobs.size, 0);
  }

  /**
   * Reads a page of a folder in its turn.
   * @throws Refusal (503) if too many requests wait, or too many responses are being sent; what `read` throws; the reason of `clientGone`
   *   if the client leaves before the page is read
   */
  async page(request: ListingTurnRequest, read: () => Promise<Page>): Promise<Page> {
    const { locationId, path, query, clientGone } = request;
    clientGone.throwIfAborted();
    this.#count(request);
    const turns = this.#locations.get(locationId) ?? newTurns();
    const groups = listingGroupsOf(request);
    const endOfWait = Promise.withResolvers<never>();
    const endWait = beginWait(turns, request, (cause) => end(cause));
    this.#locations.set(locationId, turns);
    const job = joinJob(turns, JSON.stringify([path, query]), groups, read);
    this.#startJobs(locationId, turns);
    const end = (cause: unknown) => {
      endOfWait.reject(cause); // before `leaveJob`, which may reject the job too: the caller must get `cause`
      leaveJob(turns, job, groups);
    };
    const onAbort = () => end(clientGone.reason);
    clientGone.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([job.result.promise, endOfWait.promise]);
    } finally {
      endWait();
      clientGone.removeEventListener('abort', onAbort);
    }
  }

  /** Counts a request until its response is sent. @throws Refusal (503) if there are too many */
  #count(request: ListingTurnRequest): void {
    const limits = limitsOf(request);
    if (limits.some(({ name, max }) => (this.#requestCounts.get(name) ?? 0) >= max)) throw busyRefusal();
    for (const { name } of limits) {
      addCount(this.#requestCounts, name, 1);
      void request.responseEnd.finally(() => addCount(this.#requestCounts, name, -1));
    }
  }

  #startJobs(id: number, turns: LocationTurns): void {
    while (turns.running.size < maxConcurrent.location) {
      const job = turns.queue.take(blockedGroups(turns.running));
      if (!job) break;
      unqueue(turns, job);
      const groupsOfJob = [...job.waiters.values()].map(({ groups }) => groups);
      turns.running.set(job, groupsOfJob);
      job
        .read()
        .then(job.result.resolve, job.result.reject)
        .finally(() => {
          turns.running.delete(job);
          this.#startJobs(id, turns);
        });
    }
    if (turns.running.size === 0) this.#locations.delete(id);
  }
}
