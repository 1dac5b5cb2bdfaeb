import { concurrencyLimit } from '#core/concurrency-limit.ts';
import { fairQueue } from '#core/fair-queue.ts';
import type { Refusal } from '#core/messages.ts';
import { type Waiting, type WaitingLimit, waitingLimit } from './waiting-limit.ts';

/** Who takes turns: the outer groups do, and within one of them the inner ones. An inner name is of one caller, in whatever outer group. */
export type TurnGroups = readonly [outer: string, inner: string];

interface Limits {
  readonly atOnce: number;
  readonly mostWaiting: { readonly inner: number; readonly all: number };
  readonly refusal: () => Refusal;
}

/** Runs costly work a few at a time, in turns. */
export interface Turns {
  /**
   * @param crowds what of the caller many others may have in common, such as a wide network: see `WaitingLimit`
   * @throws the refusal of the limits where too many wait already; the reason of `left` where the client left before its turn
   */
  run<T>(groups: TurnGroups, left: AbortSignal, work: () => Promise<T>, crowds?: readonly string[]): Promise<T>;
}

/** @param limit of those who wait: several turns may share it */
export function turns({ atOnce, mostWaiting, refusal }: Limits, limit = waitingLimit(mostWaiting, refusal)): Turns {
  const queue = fairQueue<Waiting & { readonly start: () => void }>();
  const inPlace = concurrencyLimit(atOnce, () => {
    const next = queue.take();
    if (next) limit.remove(next);
    return next?.start;
  });
  async function wait(groups: TurnGroups, crowds: readonly string[], left: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const refuse = (cause: unknown) => {
      queue.remove(groups, one);
      turn.reject(cause);
    };
    const one = { inner: groups[1], crowds, start: turn.resolve, refuse };
    limit.add(one);
    queue.add(groups, one);
    const leave = () => limit.remove(one) && refuse(left.reason);
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
      return inPlace(() => wait(groups, crowds, left), work);
    },
  };
}

const rest = 3; // times as long as the work took: the others' share of the time

/** Runs work that holds the event loop, with a rest behind it in which others have their turn. @throws as `run`, and what `work` throws */
export async function runWithRest<T>(
  { run }: Turns,
  groups: TurnGroups,
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

/**
 * Runs work in turns that each key has of its own, such as a location: they are held while somebody takes part in them.
 * @param limit of those who wait at all keys together; by default each key has its own
 */
export function turnsByKey(limits: Limits, limit?: WaitingLimit): <T>(key: string, work: (turns: Turns) => Promise<T>) => Promise<T> {
  const held = new Map<string, { readonly turns: Turns; users: number }>();
  return async (key, work) => {
    const one = held.get(key) ?? { turns: turns(limits, limit), users: 0 };
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
