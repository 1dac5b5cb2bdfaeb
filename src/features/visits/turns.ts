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
  readonly mostWaiting: { readonly visitor: number; readonly all: number };
  readonly refusal: () => Refusal;
}

/** Runs costly work a few at a time: links take turns, and within a link networks do. */
export interface Turns {
  /** @throws the refusal of the limits where too many wait already */
  run<T>(asker: Asker, work: () => Promise<T>): Promise<T>;
}

export function turns({ atOnce, mostWaiting, refusal }: Limits): Turns {
  const queue = fairQueue<() => void>();
  let running = 0;
  async function begin(asker: Asker): Promise<void> {
    if (running < atOnce) {
      running += 1;
      return;
    }
    const groups = groupsOf(asker);
    if (queue.count([]) >= mostWaiting.all || queue.count(groups) >= mostWaiting.visitor) throw refusal();
    await new Promise<void>((start) => queue.add(groups, start));
  }
  return {
    async run(asker, work) {
      await begin(asker);
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
