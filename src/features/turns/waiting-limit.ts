import { addCount } from '#core/count-by-key.ts';
import { ItemsByGroup } from '#core/items-by-group.ts';

export interface WaitingRequest {
  readonly inner: string;
  readonly largeGroups: readonly string[]; // groups shared with many others, such as a link or a wide network
  readonly refuse: (cause: unknown) => void;
}

/** Limits how many requests wait at the same time: in each inner group, and in total. */
export interface WaitingLimit {
  /**
   * Adds a request. If the total is reached, refuses the newest request of the largest of all large groups, to make space for this one.
   * If one of its own groups is as large, compares the other groups of the requests in that group, and so on. So a flood from one
   * network at a link does not keep other networks away from the link.
   * @throws the refusal if too many requests of its inner group wait, or if the total is reached and no group is larger than its own
   */
  add(request: WaitingRequest): void;
  /** Removes a request. @returns whether it still waited */
  remove(request: WaitingRequest): boolean;
  count(): number;
}

/** Requests by large group, each group in the order of arrival. */
interface RequestGroups {
  itemsOf(name: string): ReadonlySet<WaitingRequest>;
  readonly largest: ReadonlySet<WaitingRequest>;
}

/**
 * Groups requests. Takes a third of the time of `ItemsByGroup`, which can also remove items.
 * @param except names of groups to ignore
 */
function groupRequests(requests: Iterable<WaitingRequest>, except: readonly string[]): RequestGroups {
  const groups = new Map<string, Set<WaitingRequest>>();
  let largest: ReadonlySet<WaitingRequest> = new Set();
  for (const request of requests)
    for (const name of request.largeGroups) {
      if (except.includes(name)) continue;
      const group = groups.get(name) ?? new Set();
      groups.set(name, group.add(request));
      if (group.size > largest.size) largest = group;
    }
  return { itemsOf: (name) => groups.get(name) ?? new Set(), largest };
}

/**
 * Returns the newest request of the largest group, if that group is larger than each group of the newcomer, the newcomer included.
 * Otherwise compares the groups within the newcomer's largest group, and so on. Returns undefined if no group is larger.
 * @param own names of the newcomer's groups
 * @param compared names of the groups that contain all requests of `groups`, and that are not compared again
 */
function newestOfLargest(groups: RequestGroups, own: readonly string[], compared: readonly string[] = []): WaitingRequest | undefined {
  const sizeOf = (name: string) => groups.itemsOf(name).size;
  const [largestOwn, ...others] = own.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  if (largestOwn === undefined) return undefined;
  if (groups.largest.size > sizeOf(largestOwn) + 1) return [...groups.largest].at(-1);
  const nextCompared = [...compared, largestOwn];
  return newestOfLargest(groupRequests(groups.itemsOf(largestOwn), nextCompared), others, nextCompared);
}

/** Returns a limit. @param max how many requests may wait in an inner group and in total. @param refusal creates the error */
export function waitingLimit(max: { readonly inner: number; readonly all: number }, refusal: () => Error): WaitingLimit {
  const waiting = new Set<WaitingRequest>();
  const inner = new Map<string, number>(); // waiting requests by inner group
  const groups = new ItemsByGroup<WaitingRequest>(); // large groups

  function remove(request: WaitingRequest): boolean {
    if (!waiting.delete(request)) return false;
    addCount(inner, request.inner, -1);
    for (const name of request.largeGroups) groups.remove(name, request);
    return true;
  }
  /** Refuses a request to make space for a newcomer. @throws the refusal if there is no such request */
  function refuseLargestFor(newcomer: WaitingRequest): void {
    const newest = newestOfLargest(groups, newcomer.largeGroups);
    if (!newest) throw refusal();
    remove(newest);
    newest.refuse(refusal());
  }
  return {
    add(request) {
      if ((inner.get(request.inner) ?? 0) >= max.inner) throw refusal();
      if (waiting.size >= max.all) refuseLargestFor(request);
      waiting.add(request);
      addCount(inner, request.inner, 1);
      for (const name of request.largeGroups) groups.add(name, request);
    },
    remove,
    count: () => waiting.size,
  };
}
