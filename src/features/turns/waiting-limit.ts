import { addCount } from '#core/count-by-key.ts';
import { ItemsByGroup } from '#core/items-by-group.ts';

/** A request that waits for its turn. */
export interface WaitingRequest {
  /** Name of its inner group. */
  readonly inner: string;
  /** Names of the large groups that it belongs to. */
  readonly largeGroups: readonly string[];
  /** Ends its wait. */
  readonly refuse: (cause: unknown) => void;
}

/** Limits how many requests wait at the same time: in each inner group, and in total. */
export interface WaitingLimit {
  /**
   * Adds a request. If the total is reached, refuses the newest request of the largest of all large groups, to make space for this one.
   * @throws the refusal if too many requests of its inner group wait; also if the total is reached and one of its own large groups is,
   *   with this request, as large as the largest
   */
  add(request: WaitingRequest): void;
  /** Removes a request. @returns whether it still waited */
  remove(request: WaitingRequest): boolean;
  /** Returns how many requests wait. */
  count(): number;
}

/** Returns a limit. @param max how many requests may wait in an inner group and in total. @param refusal creates the error */
export function waitingLimit(max: { readonly inner: number; readonly all: number }, refusal: () => Error): WaitingLimit {
  const waiting = new Set<WaitingRequest>();
  const inner = new Map<string, number>(); // waiting requests by inner group
  const groups = new ItemsByGroup<WaitingRequest>(); // large groups
  const sizeOf = ({ largeGroups }: WaitingRequest) => Math.max(...largeGroups.map((name) => groups.itemsOf(name).size));

  function remove(request: WaitingRequest): boolean {
    if (!waiting.delete(request)) return false;
    addCount(inner, request.inner, -1);
    for (const name of request.largeGroups) groups.remove(name, request);
    return true;
  }
  /** Refuses the newest request of the largest large group. @throws the refusal if that group is not larger than the newcomer's with it */
  function refuseLargestFor(newcomer: WaitingRequest): void {
    const { largest } = groups;
    const newest = largest.size > sizeOf(newcomer) + 1 ? [...largest].at(-1) : undefined;
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
