import { addCount } from '#core/count-by-key.ts';

/** A caller that waits for its turn. */
export interface WaitingCaller {
  /** Name of its inner group. */
  readonly inner: string;
  /** Names of the large groups that it belongs to. */
  readonly largeGroups: readonly string[];
  /** Ends its wait. */
  readonly refuse: (cause: unknown) => void;
}

/** Limits how many callers wait at the same time: in each inner group, and in total. */
export interface WaitingLimit {
  /**
   * Adds a caller. If the total is reached, refuses the newest caller of the largest crowd in favour of a caller of smaller crowds.
   * @throws the refusal if too many callers of its group wait, or if its own crowds are the largest
   */
  add(caller: WaitingCaller): void;
  /** Removes a caller. @returns whether it still waited */
  remove(caller: WaitingCaller): boolean;
}

/** Returns a limit. @param max how many callers may wait in an inner group and in total. @param refusal creates the error */
export function waitingLimit(max: { readonly inner: number; readonly all: number }, refusal: () => Error): WaitingLimit {
  const waiting = new Set<WaitingCaller>(); // in the order of arrival
  const counts = new Map<string, number>(); // waiting callers by inner group and by crowd
  const countOf = (name: string) => counts.get(name) ?? 0;
  const namesOf = ({ inner, largeGroups: crowds }: WaitingCaller) =>
    new Set([`inner ${inner}`, ...crowds.map((crowd) => `crowd ${crowd}`)]);
  const sizeOf = ({ largeGroups: crowds }: WaitingCaller) => Math.max(...crowds.map((crowd) => countOf(`crowd ${crowd}`)));

  function remove(caller: WaitingCaller): boolean {
    if (!waiting.delete(caller)) return false;
    for (const name of namesOf(caller)) addCount(counts, name, -1);
    return true;
  }
  /** Refuses the newest caller of the largest crowd. @throws the refusal if that crowd is not larger than the newcomer's */
  function refuseLargestFor(newcomer: WaitingCaller): void {
    let candidate: WaitingCaller | undefined;
    for (const caller of waiting) if (!candidate || sizeOf(caller) >= sizeOf(candidate)) candidate = caller;
    if (!candidate || sizeOf(candidate) <= sizeOf(newcomer) + 1) throw refusal();
    remove(candidate);
    candidate.refuse(refusal());
  }
  return {
    add(caller) {
      if (countOf(`inner ${caller.inner}`) >= max.inner) throw refusal();
      if (waiting.size >= max.all) refuseLargestFor(caller);
      waiting.add(caller);
      for (const name of namesOf(caller)) addCount(counts, name, 1);
    },
    remove,
  };
}
