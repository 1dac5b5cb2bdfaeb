import { addCount } from '#core/count-by-key.ts';
import { Refusal } from '#core/messages.ts';

const most = { changes: 256, bytes: 64 << 20 }; // of one tenant
const smallest = 1 << 13; // bytes that a request takes, however short its body
const retryAfter = 2; // seconds

/** Runs a change of a tenant. @throws 503 where too many of its changes are under way: each waits though its client has left */
export type LimitChanges = <T>(tenant: number, bytes: number, change: () => Promise<T>) => Promise<T>;

export function limitChanges(): LimitChanges {
  const held = new Map<string, number>();
  return async (tenant, bytes, change) => {
    const [changes, memory] = [`changes ${tenant}`, `bytes ${tenant}`];
    const weight = Math.max(bytes, smallest);
    if ((held.get(changes) ?? 0) >= most.changes || (held.get(memory) ?? 0) + weight > most.bytes)
      throw new Refusal('changesBusy', 'Too many changes of your tenant are under way.', { retryAfter });
    addCount(held, changes, 1);
    addCount(held, memory, weight);
    try {
      return await change();
    } finally {
      addCount(held, changes, -1);
      addCount(held, memory, -weight);
    }
  };
}
