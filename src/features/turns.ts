import { addCount } from '#core/count-by-key.ts';
import { fairQueue } from '#core/fair-queue.ts';
import type { Refusal } from '#core/messages.ts';

/** Who takes turns: the outer groups do, and within one of them the inner ones. An inner name is of one caller, in whatever outer group. */
export type Groups = readonly [outer: string, inner: string];

interface Limits {
  readonly atOnce: number;
  readonly mostWaiting: { readonly inner: number; readonly all: number };
  readonly refusal: () => Refusal;
}

/** Runs costly work a few at a time, in turns. */
export interface Turns {
  /** @throws the refusal of the limits where too many wait already; the reason of `left` where the client left before its turn */
  run<T>(groups: Groups, left: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function turns({ atOnce, mostWaiting, refusal }: Limits): Turns {
  const queue = fairQueue<() => void>();
  const waiting = new Map<string, number>(); // by inner group
  let running = 0;
  async function wait(groups: Groups, left: AbortSignal): Promise<void> {
    const [, inner] = groups;
    if (queue.count([]) >= mostWaiting.all || (waiting.get(inner) ?? 0) >= mostWaiting.inner) throw refusal();
    addCount(waiting, inner, 1);
    const turn = Promise.withResolvers<void>();
    const leave = () => queue.remove(groups, turn.resolve) && turn.reject(left.reason);
    queue.add(groups, turn.resolve);
    left.addEventListener('abort', leave, { once: true });
    try {
      await turn.promise;
    } finally {
      left.removeEventListener('abort', leave);
      addCount(waiting, inner, -1);
    }
  }
  return {
    async run(groups, left, work) {
      left.throwIfAborted();
      if (running >= atOnce) await wait(groups, left);
      else running += 1;
      try {
        return await work();
      } finally {
        const next = queue.take();
        if (next) next();
        else running -= 1;
      }
    },
  };
}
