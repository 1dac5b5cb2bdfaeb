import { addCount } from '#core/count-by-key.ts';
import { fairQueue } from '#core/fair-queue.ts';
import type { Refusal } from '#core/messages.ts';

/** Who takes turns: the outer groups do, and within one of them the inner ones. An inner name is of one caller, in whatever outer group. */
export type Groups = readonly [outer: string, inner: string];

/** Work that waits for its turn. */
interface Waiting {
  readonly groups: Groups;
  /** Who share the room to wait: see `run`. */
  readonly crowds: readonly string[];
  readonly start: () => void;
  readonly refuse: (cause: unknown) => void;
}

interface Limits {
  readonly atOnce: number;
  readonly mostWaiting: { readonly inner: number; readonly all: number };
  readonly refusal: () => Refusal;
}

/** Runs costly work a few at a time, in turns. */
export interface Turns {
  /**
   * @param crowds what of the caller many others may have in common, such as a wide network: where all the room to wait
   *   is taken, the newest of the largest crowd makes room for a newcomer of smaller ones
   * @throws the refusal of the limits where too many wait already; the reason of `left` where the client left before its turn
   */
  run<T>(groups: Groups, left: AbortSignal, work: () => Promise<T>, crowds?: readonly string[]): Promise<T>;
}

export function turns({ atOnce, mostWaiting, refusal }: Limits): Turns {
  const queue = fairQueue<Waiting>();
  const waiting = new Set<Waiting>(); // the same, in the order in which they came
  const counts = new Map<string, number>(); // of those that wait, by inner group and by crowd
  let running = 0;
  const countOf = (name: string) => counts.get(name) ?? 0;
  const namesOf = ({ groups: [, inner], crowds }: Waiting) => new Set([`inner ${inner}`, ...crowds.map((crowd) => `crowd ${crowd}`)]);

  function remove(one: Waiting): boolean {
    if (!waiting.delete(one)) return false;
    for (const name of namesOf(one)) addCount(counts, name, -1);
    return true;
  }
  /** Makes room for one more. @throws the refusal where its own crowds are the largest */
  function makeRoom(newcomer: Waiting): void {
    if (waiting.size < mostWaiting.all) return;
    const sizeOf = ({ crowds }: Waiting) => Math.max(...crowds.map((crowd) => countOf(`crowd ${crowd}`)));
    let refused: Waiting | undefined;
    for (const one of waiting) if (!refused || sizeOf(one) >= sizeOf(refused)) refused = one;
    if (!refused || sizeOf(refused) <= sizeOf(newcomer) + 1) throw refusal();
    queue.remove(refused.groups, refused);
    remove(refused);
    refused.refuse(refusal());
  }
  function enqueue(one: Waiting): void {
    const [, inner] = one.groups;
    if (countOf(`inner ${inner}`) >= mostWaiting.inner) throw refusal();
    makeRoom(one);
    queue.add(one.groups, one);
    waiting.add(one);
    for (const name of namesOf(one)) addCount(counts, name, 1);
  }
  async function wait(groups: Groups, crowds: readonly string[], left: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const one = { groups, crowds, start: turn.resolve, refuse: turn.reject };
    enqueue(one);
    const leave = () => queue.remove(groups, one) && remove(one) && turn.reject(left.reason);
    left.addEventListener('abort', leave, { once: true });
    try {
      await turn.promise;
    } finally {
      left.removeEventListener('abort', leave);
    }
  }
  return {
    async run(groups, left, work, crowds = groups) {
      left.throwIfAborted();
      if (running >= atOnce) await wait(groups, crowds, left);
      else running += 1;
      try {
        return await work();
      } finally {
        const next = queue.take();
        if (next) {
          remove(next);
          next.start();
        } else running -= 1;
      }
    },
  };
}

const rest = 3; // times as long as the work took: the others' share of the time

/** Runs work that holds the event loop, with a rest behind it in which others have their turn. @throws as `run`, and what `work` throws */
export async function runWithRest<T>(
  { run }: Turns,
  groups: Groups,
  left: AbortSignal,
  work: () => T,
  crowds?: readonly string[],
): Promise<T> {
  const value = Promise.withResolvers<T>();
  const inTurn = async () => {
    const begun = performance.now();
    try {
      value.resolve(work());
    } catch (cause) {
      value.reject(cause);
    }
    const took = performance.now() - begun;
    await new Promise((resolve) => setTimeout(resolve, rest * took).unref());
  };
  run(groups, left, inTurn, crowds).catch(value.reject);
  return value.promise;
}

/** Runs work in turns that each key has of its own, such as a location: they are held while somebody takes part in them. */
export function turnsByKey(limits: Limits): <T>(key: string, work: (turns: Turns) => Promise<T>) => Promise<T> {
  const held = new Map<string, { readonly turns: Turns; users: number }>();
  return async (key, work) => {
    const one = held.get(key) ?? { turns: turns(limits), users: 0 };
    held.set(key, one);
    one.users += 1;
    try {
      return await work(one.turns);
    } finally {
      one.users -= 1;
      if (one.users === 0) held.delete(key);
    }
  };
}
