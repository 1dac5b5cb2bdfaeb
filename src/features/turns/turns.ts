import { concurrencyLimit } from '#core/concurrency-limit.ts';
import { fairQueue } from '#core/fair-queue.ts';
import { type WaitingLimit, type WaitingRequest, waitingLimit } from './waiting-limit.ts';

/**
 * The groups of a request, the outermost first. The outer groups take turns, and the inner groups take turns within their outer group.
 * The name of the innermost group belongs to one client, even across outer groups. All requests name the same number of groups.
 */
export type TurnGroups = readonly [outer: string, ...inner: string[]];

interface Limits {
  readonly concurrency: number;
  readonly maxWaiting: { readonly inner: number; readonly all: number };
  readonly refusal: () => Error;
}

/** Runs expensive work with limited concurrency, in turns. */
export interface Turns {
  /**
   * @param largeGroups groups that the request shares with many others, such as a wide network: see `WaitingLimit`
   * @throws the refusal of the limits if too many requests wait; the reason of `clientGone` if the client disconnects before its turn
   */
  run<T>(groups: TurnGroups, clientGone: AbortSignal, work: () => Promise<T>, largeGroups?: readonly string[]): Promise<T>;
}

/** Returns new turns. @param limit limit of the waiting requests; several turns may share it */
export function turns(
  { concurrency: atOnce, maxWaiting: mostWaiting, refusal }: Limits,
  limit = waitingLimit(mostWaiting, refusal),
): Turns {
  const queue = fairQueue<WaitingRequest & { readonly start: () => void }>();
  const runLimited = concurrencyLimit(atOnce, () => {
    const next = queue.take();
    if (next) limit.remove(next);
    return next?.start;
  });
  async function wait(groups: TurnGroups, largeGroups: readonly string[], clientGone: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const refuse = (cause: unknown) => {
      queue.remove(groups, request);
      turn.reject(cause);
    };
    const request = { inner: groups.at(-1) ?? '', largeGroups, start: turn.resolve, refuse };
    limit.add(request);
    queue.add(groups, request);
    const leave = () => limit.remove(request) && refuse(clientGone.reason);
    clientGone.addEventListener('abort', leave, { once: true });
    try {
      await turn.promise;
    } finally {
      clientGone.removeEventListener('abort', leave);
    }
  }
  return {
    async run(groups, clientGone, work, largeGroups = groups) {
      clientGone.throwIfAborted();
      return runLimited(() => wait(groups, largeGroups, clientGone), work);
    },
  };
}

const restFactor = 3; // the pause after work is three times as long as the work

/** Runs work that blocks the event loop, then pauses so that other requests get their turn. @throws as `run`, and what `work` throws */
export async function runWithRest<T>(
  { run }: Turns,
  groups: TurnGroups,
  clientGone: AbortSignal,
  work: () => T,
  largeGroups?: readonly string[],
): Promise<T> {
  const value = Promise.withResolvers<T>();
  const inTurn = async () => {
    const start = performance.now();
    try {
      value.resolve(work());
    } catch (cause) {
      value.reject(cause);
    }
    const duration = performance.now() - start;
    await new Promise((resolve) => setTimeout(resolve, restFactor * duration).unref());
  };
  run(groups, clientGone, inTurn, largeGroups).catch(value.reject);
  return value.promise;
}

/**
 * Runs work in its turn, and keeps the turn for a pause after it, so that a flood of such work leaves time for other requests.
 * @param pause in ms. The result does not wait for it
 * @throws as `run`, and what `work` throws
 */
export async function runWithPause<T>({ run }: Turns, groups: TurnGroups, work: () => Promise<T>, pause: number): Promise<T> {
  const value = Promise.withResolvers<T>();
  const inTurn = async () => {
    await work().then(value.resolve, value.reject);
    await new Promise((resolve) => setTimeout(resolve, pause).unref());
  };
  run(groups, new AbortController().signal, inTurn).catch(value.reject);
  return value.promise;
}

/**
 * Returns a function that runs work in the turns of a key, such as a location. The turns of a key exist while work uses them.
 * @param limit limit of the requests that wait at all keys together; default: one limit for each key
 */
export function turnsByKey(limits: Limits, limit?: WaitingLimit): <T>(key: string, work: (turns: Turns) => Promise<T>) => Promise<T> {
  const turnsInUse = new Map<string, { readonly turns: Turns; users: number }>();
  return async (key, work) => {
    const entry = turnsInUse.get(key) ?? { turns: turns(limits, limit), users: 0 };
    turnsInUse.set(key, entry);
    entry.users += 1;
    try {
      return await work(entry.turns);
    } finally {
      entry.users -= 1;
      if (entry.users === 0) turnsInUse.delete(key);
    }
  };
}
