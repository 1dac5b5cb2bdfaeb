import { addCount } from '#core/count-by-key.ts';
import { fairQueue } from '#core/fair-queue.ts';
import { type WaitingLimit, type WaitingRequest, waitingLimit } from './waiting-limit.ts';

/**
 * The groups of a request, the outermost first. The outer groups take turns, and the inner groups take turns within their outer group.
 * The innermost name identifies one client: it is the same client in every outer group. All requests name the same number of groups.
 */
export type TurnGroups = readonly [outer: string, ...inner: string[]];

interface Limits {
  readonly concurrency: number;
  /**
   * How many requests of one group may run at a time, for the groups of one level (0: the outermost). Groups of the same name count
   * together.
   */
  readonly concurrencyOfGroup?: { readonly level: number; readonly max: number };
  readonly maxWaiting: { readonly inner: number; readonly all: number };
  readonly refusal: () => Error;
}

/** Runs expensive work with limited concurrency, in turns. */
export interface Turns {
  /**
   * @param clientGone aborts when the client disconnects, which ends the wait; null: the request waits even then
   * @param largeGroups groups that the request shares with many others, such as a wide network: see `WaitingLimit`
   * @throws the refusal of the limits if too many requests wait; the reason of `clientGone` if the client disconnects before its turn
   */
  run<T>(groups: TurnGroups, clientGone: AbortSignal | null, work: () => Promise<T>, largeGroups?: readonly string[]): Promise<T>;
}

/** Counts the requests that run, in total and in each group that has a limit. */
function runningCounts({ concurrency, concurrencyOfGroup }: Limits) {
  const { level, max } = concurrencyOfGroup ?? { level: 0, max: Number.POSITIVE_INFINITY };
  const byGroup = new Map<string, number>();
  let all = 0;
  const isFull = (group: string | undefined) => (byGroup.get(group ?? '') ?? 0) >= max;
  return {
    /** Whether a group has as many running requests as its limit allows. */
    isBlocked: (groups: readonly string[]) => groups.length === level + 1 && isFull(groups[level]),
    mayStart: (groups: TurnGroups) => all < concurrency && !isFull(groups[level]),
    add(groups: TurnGroups, difference: 1 | -1): void {
      all += difference;
      addCount(byGroup, groups[level] ?? '', difference);
    },
  };
}

/** Returns a new `Turns`. @param limit limit of the waiting requests; several `Turns` may share it */
export function turns(limits: Limits, limit = waitingLimit(limits.maxWaiting, limits.refusal)): Turns {
  const queue = fairQueue<WaitingRequest & { readonly start: () => void }>();
  const running = runningCounts(limits);

  async function wait(groups: TurnGroups, largeGroups: readonly string[], clientGone: AbortSignal | null): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const refuse = (cause: unknown) => {
      queue.remove(groups, request);
      turn.reject(cause);
    };
    const start = () => {
      running.add(groups, 1);
      turn.resolve();
    };
    const request = { inner: groups.at(-1) ?? '', largeGroups, start, refuse };
    limit.add(request);
    queue.add(groups, request);
    const leave = () => limit.remove(request) && refuse(clientGone?.reason);
    clientGone?.addEventListener('abort', leave, { once: true });
    try {
      await turn.promise;
    } finally {
      clientGone?.removeEventListener('abort', leave);
    }
  }
  /** Ends a request, and gives its place to the next waiting request. */
  function end(groups: TurnGroups): void {
    running.add(groups, -1);
    const next = queue.take(running.isBlocked);
    if (!next) return;
    limit.remove(next);
    next.start();
  }
  return {
    async run(groups, clientGone, work, largeGroups = groups) {
      clientGone?.throwIfAborted();
      if (running.mayStart(groups)) running.add(groups, 1);
      else await wait(groups, largeGroups, clientGone);
      try {
        return await work();
      } finally {
        end(groups);
      }
    },
  };
}

/**
 * Runs work in its turn, and keeps the turn for a pause after it, so that a flood of such work leaves time for other requests.
 * @param pause the result does not wait for it
 * @throws the errors of `run` and of `work`
 */
export async function runWithPause<T>(
  { run }: Turns,
  groups: TurnGroups,
  clientGone: AbortSignal | null,
  { work, pause }: { readonly work: () => Promise<T>; readonly pause: () => Promise<void> },
  largeGroups?: readonly string[],
): Promise<T> {
  const value = Promise.withResolvers<T>();
  const inTurn = async () => {
    await work().then(value.resolve, value.reject);
    await pause();
  };
  run(groups, clientGone, inTurn, largeGroups).catch(value.reject);
  return value.promise;
}

const restFactor = 3; // the pause after work is three times as long as the work

/** Pauses after work that has blocked the event loop, so that other requests get their turn. @param duration of the work, in ms */
const restAfter = (duration: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, restFactor * duration).unref());

/** Runs work that blocks the event loop, then pauses so that other requests get their turn. @throws as `runWithPause` */
export function runWithRest<T>(
  turnsOfWork: Turns,
  groups: TurnGroups,
  clientGone: AbortSignal | null,
  work: () => T,
  largeGroups?: readonly string[],
): Promise<T> {
  let duration = 0;
  async function measureWork(): Promise<T> {
    const start = performance.now();
    try {
      return work();
    } finally {
      duration = performance.now() - start;
    }
  }
  return runWithPause(turnsOfWork, groups, clientGone, { work: measureWork, pause: () => restAfter(duration) }, largeGroups);
}

/**
 * Returns a function that calls `work` with the turns of a key, such as a location. The turns of a key exist while work uses them.
 * @param limit limit of the requests that wait, for all keys together; default: one limit for each key
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
