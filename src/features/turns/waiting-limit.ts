import { addCount } from '#core/count-by-key.ts';
import type { Refusal } from '#core/messages.ts';

/** A caller that waits for its turn. */
export interface Waiting {
  /** Its innermost group. */
  readonly inner: string;
  /** Larger groups that it is in. */
  readonly crowds: readonly string[];
  /** Ends its wait. */
  readonly refuse: (cause: unknown) => void;
}

/** Bounds how many wait at one time: those of one group, and all. */
export interface WaitingLimit {
  /**
   * Adds a caller. Where all places are taken, the newest of the largest crowd is refused in favour of one of smaller crowds.
   * @throws the refusal where too many of its group wait, or its own crowds are the largest
   */
  add(one: Waiting): void;
  /** Removes a caller. @returns whether it still waited */
  remove(one: Waiting): boolean;
}

export function waitingLimit(most: { readonly inner: number; readonly all: number }, refusal: () => Refusal): WaitingLimit {
  const waiting = new Set<Waiting>(); // in the order in which they came
  const counts = new Map<string, number>(); // of those that wait, by inner group and by crowd
  const countOf = (name: string) => counts.get(name) ?? 0;
  const namesOf = ({ inner, crowds }: Waiting) => new Set([`inner ${inner}`, ...crowds.map((crowd) => `crowd ${crowd}`)]);
  const sizeOf = ({ crowds }: Waiting) => Math.max(...crowds.map((crowd) => countOf(`crowd ${crowd}`)));

  function remove(one: Waiting): boolean {
    if (!waiting.delete(one)) return false;
    for (const name of namesOf(one)) addCount(counts, name, -1);
    return true;
  }
  function refuseLargestFor(newcomer: Waiting): void {
    let refused: Waiting | undefined;
    for (const one of waiting) if (!refused || sizeOf(one) >= sizeOf(refused)) refused = one;
    if (!refused || sizeOf(refused) <= sizeOf(newcomer) + 1) throw refusal();
    remove(refused);
    refused.refuse(refusal());
  }
  return {
    add(one) {
      if (countOf(`inner ${one.inner}`) >= most.inner) throw refusal();
      if (waiting.size >= most.all) refuseLargestFor(one);
      waiting.add(one);
      for (const name of namesOf(one)) addCount(counts, name, 1);
    },
    remove,
  };
}
