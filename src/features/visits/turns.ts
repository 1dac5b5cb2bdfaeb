import { addCount } from '#core/count-by-key.ts';
import { fairQueue } from '#core/fair-queue.ts';
import type { Refusal } from '#core/messages.ts';
import { networkOf } from '#core/policy/address-range.ts';

/** Who asks for a turn. */
export interface Asker {
  readonly viewId: string;
  readonly address: string;
}

/** Returns the groups that take turns: links, and within a link networks. */
export const groupsOf = ({ viewId, address }: Asker): readonly [string, string] => [viewId, networkOf(address, 32, 64)];

interface Limits {
  readonly atOnce: number;
  readonly mostWaiting: { readonly network: number; readonly all: number };
  readonly refusal: () => Refusal;
}

/** Runs costly work a few at a time: links take turns, and within a link networks do. */
export interface Turns {
  /** @throws the refusal of the limits where too many wait already; the reason of `left` where the client left before its turn */
  run<T>(asker: Asker, left: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function turns({ atOnce, mostWaiting, refusal }: Limits): Turns {
  const queue = fairQueue<() => void>();
  const waiting = new Map<string, number>(); // by network, whatever links it asks at
  let running = 0;
  async function wait(asker: Asker, left: AbortSignal): Promise<void> {
    const groups = groupsOf(asker);
    const [, network] = groups;
    if (queue.count([]) >= mostWaiting.all || (waiting.get(network) ?? 0) >= mostWaiting.network) throw refusal();
    addCount(waiting, network, 1);
    const turn = Promise.withResolvers<void>();
    const leave = () => queue.remove(groups, turn.resolve) && turn.reject(left.reason);
    queue.add(groups, turn.resolve);
    left.addEventListener('abort', leave, { once: true });
    try {
      await turn.promise;
    } finally {
      left.removeEventListener('abort', leave);
      addCount(waiting, network, -1);
    }
  }
  return {
    async run(asker, left, work) {
      left.throwIfAborted();
      if (running >= atOnce) await wait(asker, left);
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
